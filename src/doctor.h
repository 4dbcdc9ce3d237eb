#pragma once
/* `yare doctor`: what was found and what is wrong with it, a row of the table in doctor.c each. Nothing is changed, no model is asked,
 * no key is shown. */
struct setup;
int doctor_run(int argc, char **argv, struct setup *s); /* 0; 1 when something is broken */
