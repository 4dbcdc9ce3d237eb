/* Containers, other hosts and other systems: what runs there is out of sight and out of the sandbox's reach. */
#include "perm/wrappers.h"

#define CONTAINER_LONGS                                                                            \
    "user= workdir= env= env-file= interactive tty detach privileged rm name= volume= "            \
    "network= entrypoint/K=: platform= mount= publish= label= memory= cpus= hostname= init pull= " \
    "gpus= ipc= pid= add-host= cap-add= cap-drop= device= dns= expose= group-add= restart= "       \
    "security-opt= shm-size= tmpfs= ulimit= userns= volumes-from= read-only publish-all "          \
    "index= no-TTY no-deps service-ports use-aliases build quiet-pull remove-orphans"
#define RUN_SHORTS "itdPTu:w:e:v:p:m:h:l:c:q"
#define KUBE_LONGS                                                                                 \
    "container= namespace= stdin tty quiet context= kubeconfig= cluster= user= "                   \
    "pod-running-timeout= "                                                                        \
    "image= restart= rm command env= labels= port= overrides= attach target= copy-to= profile= "   \
    "share-processes"

#define BOX(name_, sub_) ROW(name_, sub_, W_RUN, 1, true, RUN_SHORTS, CONTAINER_LONGS)
#define POD(name_, sub_) ROW(name_, sub_, W_DASHES, 0, true, "itqc:n:l:f:", KUBE_LONGS)

static const struct wrapper rows[] = {
    ROW("ssh", NULL, W_TEXT, 1, true,
        "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:", NULL),
    BOX("docker", "exec"),
    BOX("docker", "run"),
    BOX("docker", "create"),
    BOX("docker", "compose exec"),
    BOX("docker", "compose run"),
    BOX("podman", "exec"),
    BOX("podman", "run"),
    BOX("podman", "create"),
    BOX("nerdctl", "exec"),
    BOX("nerdctl", "run"),
    BOX("docker-compose", "exec"),
    BOX("docker-compose", "run"),
    BOX("podman-compose", "exec"),
    BOX("podman-compose", "run"),
    POD("kubectl", "exec"),
    POD("kubectl", "run"),
    POD("kubectl", "debug"),
    POD("oc", "exec"),
    POD("oc", "run"),
    POD("oc", "debug"),
    GUESS("lxc", "exec", true),
    GUESS("incus", "exec", true),
    GUESS("machinectl", "shell", true),
    GUESS("oc", "rsh", true),
    GUESS("vagrant", "ssh", true),
    GUESS("heroku", "run", true),
    GUESS("fly", "ssh", true),
    GUESS("flyctl", "ssh", true),
    GUESS("mosh", NULL, true),
    GUESS("autossh", NULL, true),
    GUESS("sshpass", NULL, true),
    GUESS("ansible", NULL, true),
    GUESS("pssh", NULL, true),
    GUESS("parallel-ssh", NULL, true),
    GUESS("pdsh", NULL, true),
    GUESS("dsh", NULL, true),
    GUESS("clush", NULL, true),
    GUESS("gcloud", "compute ssh", true),
    GUESS("aws", "ssm send-command", true),
    GUESS("aws", "ecs execute-command", true),
    GUESS("az", "vm run-command", true),
    GUESS("gh", "codespace", true),
    GUESS("gh", "cs", true),
    GUESS("adb", "shell", true),
    GUESS("wsl", NULL, true),
    GUESS("wsl.exe", NULL, true),
    GUESS("systemd-nspawn", NULL, true),
    GUESS("distrobox", NULL, true),
    GUESS("toolbox", NULL, true),
    GUESS("apptainer", NULL, true),
    GUESS("singularity", NULL, true),
    GUESS("flatpak-spawn", NULL, true),
    GUESS("flatpak", "run", true),
    GUESS("snap", "run", true),
    GUESS("lxc-attach", NULL, true),
    GUESS("virt-customize", NULL, true),
    GUESS("gosu", NULL, true),
    GUESS("su-exec", NULL, true),
    GUESS("setuidgid", NULL, true),
    GUESS("s6-setuidgid", NULL, true),
    GUESS("chpst", NULL, true),
    GUESS("capsh", NULL, true),
    GUESS("newgrp", NULL, true),
    GUESS("runcon", NULL, true),
    GUESS("sbatch", NULL, true),
    GUESS("srun", NULL, true),
    GUESS("qsub", NULL, true),
    GUESS("bsub", NULL, true),
    GUESS("condor_run", NULL, true),
    GUESS("mpirun", NULL, true),
    GUESS("mpiexec", NULL, true),
};
const struct wrapper_table wrappers_boxes = {rows, ARRAY_LEN(rows)};
