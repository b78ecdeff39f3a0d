/**
 * For whatever a test waits for: a limit that only a hang reaches. It costs nothing where all is well, and beside other busy
 * programs a process may stand still for seconds, so that a limit nearer to the usual time would report the machine.
 */
export const HANG_MS = 5 * 60_000;

/** A whole test or hook waits several times, and the wait that hangs is to say for what. */
export const TEST_HANG_MS = 3 * HANG_MS;
