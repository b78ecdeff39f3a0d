import { hexToBytes } from "./hex.ts";
import { KECCAK_MODULE } from "./keccakModule.ts";
import type { Steps } from "./steps.ts";

/** 32 bytes that came out of keccak-256 (or stand where such a hash belongs). */
export type Hash = Uint8Array & { readonly __brand: "hash" };

/**
 * The only keccak-256 of the program: the EVM's, in a WebAssembly instance of its own, 1.6 µs for 532 bytes against 15.8 µs
 * in plain JavaScript (architecture.md#measurements). Reuse is safe because the calls are synchronous.
 */
export function keccak256(bytes: Uint8Array): Hash {
  const { length } = bytes;
  if (length > INPUT_BYTES) {
    const running = createRunningKeccak();
    running.update(bytes);
    return running.digest() as Hash;
  }
  input.set(bytes);
  keccak.keccak(WORD_AT, INPUT_AT, length);
  return digestOfState();
}

/**
 * The keccak-256 of parts of `bytes`, 32 bytes each, one behind the other. The part at index i reaches from bounds[2 * i] to before
 * bounds[2 * i + 1]. No object is made for a part: thousands of hashes would leave much garbage.
 */
export function keccak256OfParts(bytes: Uint8Array, bounds: readonly number[]): Uint8Array {
  const digests = new Uint8Array(16 * bounds.length);
  const fits = bytes.length <= INPUT_BYTES;
  if (fits) input.set(bytes);
  for (let at = 0; at < bounds.length; at += 2) {
    const from = bounds[at] as number;
    const until = bounds[at + 1] as number;
    if (fits) {
      keccak.keccak(WORD_AT, INPUT_AT + from, until - from);
      digests.set(stateDigest, 16 * at);
    } else {
      digests.set(keccak256(bytes.subarray(from, until)), 16 * at);
    }
  }
  return digests;
}

/** A keccak-256 that continues absorbing after a digest, such as the two of an RLPx connection. */
export interface RunningKeccak {
  update(bytes: Uint8Array): void;
  /** Digest of everything absorbed so far. */
  digest(): Uint8Array;
}

/** All running hashes share the one instance: each keeps its own state and loads it for each call. */
export function createRunningKeccak(): RunningKeccak {
  const ownState = new Uint8Array(STATE_BYTES);
  /** The bytes after the last whole block. */
  const rest = new Uint8Array(BLOCK_BYTES);
  let restLength = 0;
  return {
    update(bytes) {
      state.set(ownState);
      for (let at = 0; at < bytes.length; ) {
        input.set(rest.subarray(0, restLength));
        const piece = bytes.subarray(at, at + INPUT_BYTES - restLength);
        input.set(piece, restLength);
        at += piece.length;
        const length = restLength + piece.length;
        restLength = length % BLOCK_BYTES;
        keccak.absorb(INPUT_AT, length - restLength);
        rest.set(input.subarray(length - restLength, length));
      }
      ownState.set(state);
    },
    digest() {
      state.set(ownState);
      input.set(rest.subarray(0, restLength));
      keccak.endKeccak(WORD_AT, INPUT_AT, restLength);
      return digestOfState();
    },
  };
}

/** The keccak-256 of the concatenation of parts of any length. */
export function* keccak256InSteps(parts: readonly Uint8Array[]): Steps<Hash> {
  const running = createRunningKeccak();
  for (const part of parts) {
    for (let at = 0; at < part.length; at += STEP_BYTES) {
      if (at > 0) yield;
      running.update(part.subarray(at, at + STEP_BYTES));
    }
  }
  return asHash(running.digest());
}

/** Hashing this many bytes takes some 0.4 ms. */
const STEP_BYTES = 128 * 1024;

/*
 * The module's memory: the state at 2,048 (src/evm/core/layout.ts), whose first 32 bytes become the digest; the digest as
 * the EVM's word, which is not used here; the input.
 */
const STATE_AT = 2048;
const STATE_BYTES = 200;
const WORD_AT = 4096;
const INPUT_AT = 65_536;
const BLOCK_BYTES = 136;
/** A whole number of blocks. */
const INPUT_BYTES = 481 * BLOCK_BYTES;

interface KeccakModule {
  readonly memory: { readonly buffer: ArrayBuffer };
  keccak(to: number, from: number, size: number): void;
  absorb(from: number, size: number): void;
  endKeccak(to: number, from: number, size: number): void;
}

/** The part of the runtime's WebAssembly that is used here; its types otherwise come with the DOM's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

const keccak = new WebAssembly.Instance(
  new WebAssembly.Module(Uint8Array.from(Buffer.from(KECCAK_MODULE, "base64"))),
).exports as KeccakModule;
const state = new Uint8Array(keccak.memory.buffer, STATE_AT, STATE_BYTES);
const stateDigest = new Uint8Array(keccak.memory.buffer, STATE_AT, 32);
const input = new Uint8Array(keccak.memory.buffer, INPUT_AT, INPUT_BYTES);

function digestOfState(): Hash {
  const digest = new Uint8Array(32);
  digest.set(stateDigest);
  return digest as Hash;
}

/** Brands 32 bytes as a hash; throws RangeError for another length. */
export function asHash(bytes: Uint8Array): Hash {
  if (bytes.length !== 32) throw new RangeError(`a hash has 32 bytes, not ${bytes.length}`);
  return bytes as Hash;
}

/** Hash from a constant in the source; throws RangeError when malformed. */
export function hashFromHex(text: string): Hash {
  return asHash(hexToBytes(text));
}

export const ZERO_HASH: Hash = asHash(new Uint8Array(32));
/** keccak256 of nothing: the code hash of an account without code. */
export const EMPTY_CODE_HASH: Hash = keccak256(new Uint8Array(0));
/** keccak256(rlp("")): the root of an empty trie. */
export const EMPTY_TRIE_ROOT: Hash = keccak256(Uint8Array.of(0x80));
/** keccak256(rlp([])): the ommers hash of every IBFT block. */
export const EMPTY_LIST_HASH: Hash = keccak256(Uint8Array.of(0xc0));
