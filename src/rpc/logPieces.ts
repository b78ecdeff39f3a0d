import type { LocatedLog } from "../chain/chain.ts";
import { logItemsJson } from "./logResult.ts";
import { LoopTurn } from "./loopTurn.ts";

/**
 * Logs that one answer may hold, and characters of JSON. The incumbent knows no such limits, but an answer that is larger
 * than the memory left for it would take the node down.
 */
export const LOGS_PER_ANSWER = 100_000;
export const CHARACTERS_PER_ANSWER = 64 * 1024 * 1024;

/** Gathers an answer's logs as JSON texts of some logs each, to be joined by commas. */
export interface LogPieces {
  readonly texts: readonly string[];
  readonly characters: number;
  /** False when the answer is too large by now. */
  add(logs: readonly LocatedLog[]): boolean;
}

export function createLogPieces(): LogPieces {
  return new GatheredLogs();
}

class GatheredLogs implements LogPieces {
  readonly texts: string[] = [];
  characters = 0;
  private logCount = 0;

  add(logs: readonly LocatedLog[]): boolean {
    if (logs.length === 0) return true;
    this.logCount += logs.length;
    if (this.logCount > LOGS_PER_ANSWER) return false;
    const text = logItemsJson(logs);
    this.texts.push(text);
    this.characters += text.length;
    return this.characters <= CHARACTERS_PER_ANSWER;
  }
}

/** The texts of all these logs; undefined when they are too much for one answer. Others have their turn in between. */
export async function logPieces(logs: readonly LocatedLog[]): Promise<readonly string[] | undefined> {
  const pieces = createLogPieces();
  const turn = new LoopTurn();
  for (let start = 0; start < logs.length; start += LOGS_PER_PIECE) {
    if (!pieces.add(logs.slice(start, start + LOGS_PER_PIECE))) return undefined;
    if (turn.isOver) await turn.pass();
  }
  return pieces.texts;
}

const LOGS_PER_PIECE = 100;
