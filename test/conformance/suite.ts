/**
 * Conformance: runs public vectors against our own executor, state and importer.
 *
 *     suites.ts (list of suites) ─> Suite.cases() ─┬─ quick.test.ts: every nth case, in `npm test`
 *                                                  └─ main.ts ─> worker.ts: all, on all cores, `npm run conformance`
 *                           results ─> comparison.ts, with expectedFailures.ts ─> problems, or none
 *
 * Problems are: a failing case that is not listed, a listed one that passes or fails differently, a listed one that no
 * longer exists, and a suite with another number of cases than declared. So nothing breaks or gets fixed unnoticed.
 * coverage.ts lists the vectors that no suite reads, and where they are tested.
 */
export interface Suite {
  /** One word in lower case, for the command line. */
  readonly name: string;
  /** Number of cases, so that a missing folder of vectors does not count as success. */
  readonly total: number;
  /** `npm test` runs every nth case. */
  readonly every: number;
  /** All cases, in the same order with each call. Reads the vectors, so they must exist. */
  cases(): readonly Case[];
}

export interface Case {
  /** Unique in the suite, and the same in each run. */
  readonly id: string;
  /** Returns undefined on success, else the difference from the vector. An exception is a failure too. */
  run(): Promise<Failure | undefined> | Failure | undefined;
}

/** A difference from a vector, in one line. */
export type Failure = string;

export interface CaseResult {
  readonly id: string;
  readonly failure?: Failure;
  readonly seconds: number;
}

export async function runCase(one: Case): Promise<CaseResult> {
  const startedAtMs = performance.now();
  const failure = await attempt(one);
  const seconds = (performance.now() - startedAtMs) / 1000;
  return { id: one.id, seconds, ...(failure !== undefined && { failure }) };
}

async function attempt(one: Case): Promise<Failure | undefined> {
  try {
    return await one.run();
  } catch (error) {
    return `threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
  }
}
