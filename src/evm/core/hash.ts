// Keccak-256 alone: the module of src/primitives/hash.ts.
export { absorb, beginKeccak, endKeccak, keccak } from "./keccak";
