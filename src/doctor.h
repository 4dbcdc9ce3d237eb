#pragma once
/* `yare doctor`: what was found and what is wrong with it, a row of the table in doctor.c each. Nothing is changed, no model is asked,
 * no key is shown. */
struct setup;
/* 0, also with warnings; 1 when something is broken: it does not do what it is there for, a deny rule that cannot be read among it. */
int doctor_run(int argc, char **argv, struct setup *s);
