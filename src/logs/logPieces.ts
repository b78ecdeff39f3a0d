import type { LocatedLog } from "../chain/chain.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import { JsonWriter } from "../primitives/jsonWriter.ts";
import { logItemsJson, writeLog } from "./logResult.ts";

/**
 * Logs that one answer may hold, and characters of JSON. The incumbent knows no such limits, but an answer that is larger
 * than the memory left for it would take the node down.
 */
export const LOGS_PER_ANSWER = 100_000;
export const CHARACTERS_PER_ANSWER = 64 * 1024 * 1024;

/**
 * Gathers an answer's logs as JSON: few as text, many as bytes, which the garbage collector need not move about, and which
 * can be sent as they are.
 */
export interface LogPieces {
  readonly characters: number;
  /** False when the answer is too large by now. */
  add(logs: readonly LocatedLog[]): boolean;
  /** All that was added, in its order, to be joined by commas. */
  finish(): readonly JsonPiece[];
}

export function createLogPieces(): LogPieces {
  return new GatheredLogs();
}

class GatheredLogs implements LogPieces {
  private readonly pieces: JsonPiece[] = [];
  private written = 0;
  private logCount = 0;
  /** Of what is large. */
  private writer: JsonWriter | undefined;

  get characters(): number {
    return this.written + (this.writer?.length ?? 0);
  }

  add(logs: readonly LocatedLog[]): boolean {
    if (logs.length === 0) return true;
    this.logCount += logs.length;
    if (this.logCount > LOGS_PER_ANSWER) return false;
    const isMuch = this.logCount > LOGS_AS_TEXT || this.characters > CHARACTERS_AS_TEXT;
    if (isMuch) this.write(logs);
    else this.keep(logItemsJson(logs));
    return this.characters <= CHARACTERS_PER_ANSWER;
  }

  finish(): readonly JsonPiece[] {
    this.takeWritten();
    return this.pieces;
  }

  private write(logs: readonly LocatedLog[]): void {
    this.writer ??= new JsonWriter();
    for (const log of logs) writeLog(this.writer, log);
    if (this.writer.length >= PIECE_BYTES) this.takeWritten();
  }

  private takeWritten(): void {
    if (this.writer === undefined || this.writer.length === 0) return;
    this.keep(this.writer.takePiece());
    this.writer.clear();
  }

  private keep(piece: JsonPiece): void {
    this.pieces.push(piece);
    this.written += piece.length;
  }
}

const LOGS_AS_TEXT = 200;
const CHARACTERS_AS_TEXT = 64 * 1024;
/** With the logs that may come at once, about what is sent at once. */
const PIECE_BYTES = 192 * 1024;
