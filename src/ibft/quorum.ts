/**
 * Smallest number of validators such that any two groups of that size share an honest one: ceil(2n / 3).
 * A prepared round needs one Prepare less, because the Proposal counts as the proposer's vote. (ibft2.md#quorum)
 */
export function quorum(validators: number): number {
  return Math.ceil((2 * validators) / 3);
}

/** Number of Prepares that, with the Proposal, make a round prepared. */
export function prepareQuorum(validators: number): number {
  return quorum(validators) - 1;
}

/** Number of validators that may be faulty: floor((n - 1) / 3). Any larger group includes an honest one. */
export function tolerableFaults(validators: number): number {
  return Math.floor((validators - 1) / 3);
}
