import { createBoundedCache } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Hash } from "../../primitives/hash.ts";

/**
 * The valid jump targets of code: one bit per byte, set at each JUMPDEST outside of PUSH data. Computed at the first
 * jump, because much code never jumps. Callers pass the code each time, because the cache holds only the bits, an
 * eighth of the code, for some thousands of contracts.
 */
export class CodeAnalysis {
  /** Identifies the code within this thread, for the cache of pushed words (pushedWords.ts). */
  readonly id = nextId++;
  private targets: Uint8Array | undefined = undefined;

  isJumpTarget(code: Uint8Array, position: number): boolean {
    this.targets ??= new JumpScan(code).toEnd();
    return (((this.targets[position >> 3] as number) >> (position & 7)) & 1) === 1;
  }

  /** Scans very long code ahead of time, one slice at a time, and calls `yieldIfDue` in between. */
  async prepare(code: Uint8Array, yieldIfDue: () => Promise<void>): Promise<void> {
    const scan = new JumpScan(code);
    while (!scan.hasEnded) {
      scan.advance(SCAN_SLICE_BYTES);
      await yieldIfDue();
    }
    this.targets = scan.targets;
  }
}

let nextId = 0;
const SCAN_SLICE_BYTES = 1024 * 1024;

/**
 * The analysis of code with this hash, from an LRU cache of CACHE_BYTES. Init code, which runs once, has no hash: its
 * analysis lives as long as its frame.
 */
export function analyse(code: Uint8Array, codeHash: Hash | undefined): CodeAnalysis {
  if (codeHash === undefined) return new CodeAnalysis();
  const key = toKey(codeHash);
  let analysis = cache.get(key);
  if (analysis === undefined) {
    analysis = new CodeAnalysis();
    cache.set(key, analysis, (code.length >> 3) + OVERHEAD_BYTES);
  }
  return analysis;
}

/** Enough for about 5,000 contracts of the maximum size. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Memory of an entry besides the bits. */
const OVERHEAD_BYTES = 300;
const cache = createBoundedCache<string, CodeAnalysis>(CACHE_BYTES);

const JUMPDEST = 0x5b;
const PUSH1 = 0x60;
const PUSHES = 32;

/** Scans code instruction by instruction. */
class JumpScan {
  readonly targets: Uint8Array;
  private readonly code: Uint8Array;
  private at = 0;

  constructor(code: Uint8Array) {
    this.code = code;
    this.targets = new Uint8Array((code.length >> 3) + 1);
  }

  get hasEnded(): boolean {
    return this.at >= this.code.length;
  }

  toEnd(): Uint8Array {
    this.advance(this.code.length);
    return this.targets;
  }

  advance(bytes: number): void {
    const { code, targets } = this;
    const end = Math.min(this.at + bytes, code.length);
    let at = this.at;
    while (at < end) {
      const instruction = code[at] as number;
      if (instruction === JUMPDEST) targets[at >> 3] = (targets[at >> 3] as number) | (1 << (at & 7));
      const pushed = instruction - PUSH1;
      at += pushed >= 0 && pushed < PUSHES ? pushed + 2 : 1;
    }
    this.at = at;
  }
}
