/**
 * Smallest number of validators whose agreement no other such group can contradict: ceil(2n / 3).
 * A prepared round needs one fewer Prepare, because the proposer speaks through its Proposal.
 * (ibft2.md#quorum)
 */
export function quorum(validators: number): number {
  return Math.ceil((2 * validators) / 3);
}

/** Prepares that, with the Proposal, make a round prepared. */
export function prepareQuorum(validators: number): number {
  return quorum(validators) - 1;
}

/** Validators that may be faulty without harm: floor((n - 1) / 3). One more of them includes an honest one. */
export function tolerableFaults(validators: number): number {
  return Math.floor((validators - 1) / 3);
}
