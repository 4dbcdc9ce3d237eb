/* Stands for the program when tests run commands: nothing but its supervisor. */
#include "base/supervise.h"

int
main(int argc, char **argv)
{
    supervise_main(argc, argv);
}
