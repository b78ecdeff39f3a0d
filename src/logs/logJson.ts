import type { LocatedLog } from "../chain/chainReader.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import { JsonWriter } from "../primitives/jsonWriter.ts";
import { logItemsJson, writeLog } from "./logResult.ts";

/**
 * Maximum logs and characters of JSON in one answer. Besu has no such limits, but an answer larger than the memory left
 * would crash the node.
 */
export const LOGS_PER_ANSWER = 100_000;
export const CHARACTERS_PER_ANSWER = 64 * 1024 * 1024;

/**
 * Collects the logs of an answer as JSON: few as text, many as bytes, which the garbage collector does not copy and which
 * can be sent as they are.
 */
export class LogPieces {
  private readonly pieces: JsonPiece[] = [];
  private written = 0;
  private logCount = 0;
  /** Writes the logs as bytes once there are many. */
  private writer: JsonWriter | undefined;

  get characters(): number {
    return this.written + (this.writer?.length ?? 0);
  }

  /** Adds logs. Returns false once the answer is too large. */
  add(logs: readonly LocatedLog[]): boolean {
    if (logs.length === 0) return true;
    this.logCount += logs.length;
    if (this.logCount > LOGS_PER_ANSWER) return false;
    // The size is known before they are written: the logs of one block may be many times as large as an answer.
    const data = logs.reduce((sum, { log }) => sum + 2 * log.data.length, 0);
    if (this.characters + data > CHARACTERS_PER_ANSWER) return false;
    const isLarge = this.logCount > LOGS_AS_TEXT || this.characters > CHARACTERS_AS_TEXT;
    if (isLarge) this.write(logs);
    else this.keep(logItemsJson(logs));
    return this.characters <= CHARACTERS_PER_ANSWER;
  }

  /** All logs in the order added, to be joined by commas. */
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

/** Number of logs above which they are written as bytes. */
const LOGS_AS_TEXT = 200;
const CHARACTERS_AS_TEXT = 64 * 1024;
/** Size of a piece: with one batch of logs, about the size of one write to a socket. */
const PIECE_BYTES = 192 * 1024;
