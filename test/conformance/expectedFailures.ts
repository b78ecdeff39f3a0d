import type { ExpectedFailure } from "./judgement.ts";

/** The list that each run is compared with. Sorted by suite; a reason says whose choice it is. */
export const EXPECTED_FAILURES: readonly ExpectedFailure[] = [];
