/**
 * For tests of real processes, sockets, threads and clocks: `describe("…", IN_REAL_TIME, () => …)`. What they show is true
 * of a machine that runs them; one that is shared stands still now and then for seconds, and no bound that shows anything
 * has room for all of that. So a failure is tried once more before it counts, and the run names what needed it
 * (test/secondTries.ts). Never for what repeats exactly, and never for what may go wrong once in many times by its nature:
 * a seed that fails, or a block that is lost, must fail the run.
 */
export const IN_REAL_TIME = { retry: 1 } as const;
