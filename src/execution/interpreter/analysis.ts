import { createBoundedCache } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Hash } from "../../primitives/hash.ts";

/**
 * Where jumps may lead in code: a bit for each byte, 1 at each JUMPDEST that is not inside of a PUSH. Found at the first
 * jump, because much code runs without one. The code itself is handed in each time: what is kept here, for some
 * thousands of contracts, is an eighth of it.
 */
export class CodeAnalysis {
  /** Tells the codes of this thread apart, for what is kept of their PUSH instructions (pushedWords.ts). */
  readonly id = nextId++;
  private targets: Uint8Array | undefined = undefined;

  isJumpTarget(code: Uint8Array, place: number): boolean {
    this.targets ??= new JumpScan(code).toEnd();
    return (((this.targets[place >> 3] as number) >> (place & 7)) & 1) === 1;
  }

  /** For code so long that to look through it takes a while: so much at a time, `rest` in between. */
  async prepare(code: Uint8Array, rest: () => Promise<void>): Promise<void> {
    const scan = new JumpScan(code);
    while (!scan.hasEnded) {
      scan.goOn(SCAN_SLICE_BYTES);
      await rest();
    }
    this.targets = scan.targets;
  }
}

let nextId = 0;
const SCAN_SLICE_BYTES = 1024 * 1024;

/**
 * The analysis of code that is known by its hash is kept, those last used, KEPT_BYTES in all; that of code that runs
 * once, in a creation, lives as long as its frame.
 */
export function analyse(code: Uint8Array, codeHash: Hash | undefined): CodeAnalysis {
  if (codeHash === undefined) return new CodeAnalysis();
  const key = toKey(codeHash);
  let analysis = kept.get(key);
  if (analysis === undefined) {
    analysis = new CodeAnalysis();
    kept.set(key, analysis, (code.length >> 3) + OVERHEAD_BYTES);
  }
  return analysis;
}

/** Of some 5,000 contracts of the greatest size. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** What an entry takes beside the bits. */
const OVERHEAD_BYTES = 300;
const kept = createBoundedCache<string, CodeAnalysis>(KEPT_BYTES);

const JUMPDEST = 0x5b;
const PUSH1 = 0x60;
const PUSHES = 32;

/** Goes through code from instruction to instruction. */
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
    this.goOn(this.code.length);
    return this.targets;
  }

  goOn(bytes: number): void {
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
