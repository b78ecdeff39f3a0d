import { wordOfBytes } from "./words.ts";

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
  for (let at = 0; at < code.length; at++) {
    const instruction = code[at] as number;
    if (instruction === JUMPDEST) jumpTargets[at] = 1;
    if (instruction < PUSH1 || instruction > PUSH32) continue;
    const size = instruction - PUSH1 + 1;
    pushed[at] = size <= EXACT_BYTES ? shortWord(code, at + 1, size) : longWord(code, at + 1, size);
    at += size;
  }
  return { jumpTargets, pushed };
}

/** As many bytes make a number that counts exactly. */
const EXACT_BYTES = 6;
/** Most of what is pushed is a single byte. */
const BYTES: readonly bigint[] = Array.from({ length: 256 }, (_, byte) => BigInt(byte));

/** Code that ends inside of a PUSH is continued by zeros. Cutting a long word short takes ten times as long. */
function shortWord(code: Uint8Array, start: number, size: number): bigint {
  let value = 0;
  for (let at = start; at < start + size; at++) value = value * 256 + (code[at] ?? 0);
  return BYTES[value] ?? BigInt(value);
}

function longWord(code: Uint8Array, start: number, size: number): bigint {
  const bytes = code.subarray(start, start + size);
  const word = wordOfBytes(bytes);
  return bytes.length === size ? word : word << BigInt(8 * (size - bytes.length));
}
