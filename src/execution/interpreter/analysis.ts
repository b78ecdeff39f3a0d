import { readWord } from "./words.ts";

/** What can be told of code before it runs: where jumps may lead, and what its PUSH instructions push. */
export interface CodeAnalysis {
  /** 1 at each JUMPDEST that is not inside of a PUSH. */
  readonly jumpTargets: Uint8Array;
  /** The word of the PUSH at each place. */
  readonly pushed: readonly (bigint | undefined)[];
}

/**
 * The analysis of code, kept as long as the byte array lives: the state keeps one for each contract in use. All are
 * forgotten when they become many, since each takes some ten times its code in memory.
 */
export function analyse(code: Uint8Array): CodeAnalysis {
  let analysis = analyses.get(code);
  if (analysis === undefined) {
    keptBytes += code.length;
    if (keptBytes > KEPT_CODE_BYTES) {
      analyses = new WeakMap();
      keptBytes = code.length;
    }
    analysis = analyseAnew(code);
    analyses.set(code, analysis);
  }
  return analysis;
}

const KEPT_CODE_BYTES = 4 * 1024 * 1024;
let analyses = new WeakMap<Uint8Array, CodeAnalysis>();
let keptBytes = 0;

const JUMPDEST = 0x5b;
const PUSH1 = 0x60;
const PUSH32 = 0x7f;

function analyseAnew(code: Uint8Array): CodeAnalysis {
  const jumpTargets = new Uint8Array(code.length);
  const pushed = new Array<bigint | undefined>(code.length);
  // Code that ends inside of a PUSH is continued by zeros.
  const padded = new Uint8Array(code.length + 64);
  padded.set(code, 32);
  const view = new DataView(padded.buffer);
  for (let at = 0; at < code.length; at++) {
    const instruction = code[at] as number;
    if (instruction === JUMPDEST) jumpTargets[at] = 1;
    if (instruction < PUSH1 || instruction > PUSH32) continue;
    const size = instruction - PUSH1 + 1;
    // The 32 bytes that end with the last pushed byte, without those in front of the pushed ones.
    pushed[at] = BigInt.asUintN(8 * size, readWord(view, at + 1 + size));
    at += size;
  }
  return { jumpTargets, pushed };
}
