// What the sides of a job's process agree upon: how it says why it ended itself, and what its two threads share.

/** Its job took longer than it may. Like the other one it ends the process at once, whatever its main thread does. */
export const TIME_SIGNAL = "SIGALRM";
/** Its job took more memory than it may. */
export const MEMORY_SIGNAL = "SIGUSR2";

/** Places in the array that the threads share. This one is odd while a job is under way. */
export const TURN = 0;
/** 1 while the watching thread sleeps until it is woken. */
export const ASLEEP = 1;
/** Limits of the job under way: milliseconds, and KiB that the whole process may hold. */
export const MS = 2;
export const KIB = 3;
/** Always 0: to sleep for a while on. */
export const NEVER = 4;
export const LENGTH = 5;
