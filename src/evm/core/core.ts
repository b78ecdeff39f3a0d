// What the driver calls.
export { findTargets, prepare } from "./code";
export { charge, giveGas, hasMoreThan, returnGas } from "./frame";
export { absorb, beginKeccak, endKeccak, keccak } from "./keccak";
export { run } from "./run";
