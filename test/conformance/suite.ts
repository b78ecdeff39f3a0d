/**
 * Conformance: public vectors through our own executor, state and importer.
 *
 *     suites.ts (which there are) ─> Suite.cases() ─┬─ quick.test.ts: every n-th case, in `npm test`
 *                                                   └─ main.ts ─> worker.ts: all, on all cores, `npm run conformance`
 *                     what came out ─> judgement.ts, beside expectedFailures.ts ─> problems, or none
 *
 * A case that fails and is not listed, a listed one that passes or fails otherwise, a listed one that is gone, and a
 * suite with more or fewer cases than it says are all problems, so that nothing breaks or mends itself unnoticed.
 * Which of the vectors no suite reads, and where those are tested, says coverage.ts.
 */
export interface Suite {
  /** One word in lower case, for the command line. */
  readonly name: string;
  /** How many cases there are: a folder of vectors that vanishes must not pass for success. */
  readonly total: number;
  /** `npm test` runs every so-manieth case. */
  readonly every: number;
  /** All of them, in the same order with each call. Reads the vectors, so call it only where there are any. */
  cases(): readonly Case[];
}

export interface Case {
  /** Unique in the suite, and the same in each run. */
  readonly id: string;
  /** Undefined when all is as the vector says, else what is not. Throwing counts as a failure too. */
  run(): Promise<Failure | undefined> | Failure | undefined;
}

/** What a vector asked for and we did not do, in a line. */
export type Failure = string;

export interface CaseResult {
  readonly id: string;
  readonly failure?: Failure;
  readonly seconds: number;
}

export async function runCase(one: Case): Promise<CaseResult> {
  const beganMs = performance.now();
  const failure = await attempt(one);
  const seconds = (performance.now() - beganMs) / 1000;
  return { id: one.id, seconds, ...(failure !== undefined && { failure }) };
}

async function attempt(one: Case): Promise<Failure | undefined> {
  try {
    return await one.run();
  } catch (error) {
    return `threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
  }
}
