import { existsSync, readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { replaceFile } from "../storage/durableFile.ts";
import { RECORD_LINES } from "./limits.ts";

/** A gift that was promised. */
export interface RecordedGift {
  readonly atMs: number;
  /** Lower case. */
  readonly address: string;
  readonly remoteHost: string;
  readonly wei: bigint;
}

/**
 * The gifts of the last days, in memory and in a file of JSON lines. A gift is on disk before its transaction is sent, so
 * that a kill never lets one be given twice. A line that a kill left unfinished does not count.
 */
export class GiftRecord {
  readonly #path: string;
  readonly #keepMs: number;
  #gifts: RecordedGift[] = [];
  /** Numbers of lines and bytes of the file. */
  #lines = 0;
  #bytes = 0;
  /** The open file; undefined when it is not known to end with the newest gift's line. */
  #file: FileHandle | undefined;

  private constructor(path: string, keepMs: number) {
    this.#path = path;
    this.#keepMs = keepMs;
  }

  /** Reads the file, or creates it. Gifts older than `keepMs` are left out. Throws errors of the file system, and DiskError. */
  static async open(path: string, keepMs: number, nowMs: number): Promise<GiftRecord> {
    const record = new GiftRecord(path, keepMs);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    record.#gifts = text.split("\n").slice(0, -1).flatMap(readLine);
    await record.#rewrite(nowMs);
    return record;
  }

  /** Gifts that still count, the oldest first. */
  giftsAt(nowMs: number): readonly RecordedGift[] {
    const first = this.#gifts.findIndex(({ atMs }) => atMs > nowMs - this.#keepMs);
    if (first !== 0) this.#gifts.splice(0, first < 0 ? this.#gifts.length : first);
    return this.#gifts;
  }

  /** Adds a gift; resolves when it is on disk. If that fails, the gift does not count, and the next one rewrites the file. */
  async add(gift: RecordedGift): Promise<void> {
    this.#gifts.push(gift);
    try {
      await this.#write(gift);
    } catch (error) {
      this.#gifts.pop();
      await this.#abandonFile();
      throw error;
    }
  }

  /** Removes the last added gift, whose transaction was not accepted: its line is cut off. */
  async removeNewest(): Promise<void> {
    const newest = this.#gifts.pop();
    if (newest === undefined) return;
    try {
      await this.#cutOff(newest);
    } catch (error) {
      await this.#abandonFile();
      throw error;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #write(newest: RecordedGift): Promise<void> {
    const file = this.#file;
    if (file === undefined || this.#lines >= RECORD_LINES) return this.#rewrite(newest.atMs);
    const line = lineOf(newest);
    await file.appendFile(line);
    await file.datasync();
    this.#lines++;
    this.#bytes += Buffer.byteLength(line);
  }

  async #cutOff(newest: RecordedGift): Promise<void> {
    const file = this.#file;
    if (file === undefined) return this.#rewrite(newest.atMs);
    this.#lines--;
    this.#bytes -= Buffer.byteLength(lineOf(newest));
    await file.truncate(this.#bytes);
    await file.datasync();
  }

  async #rewrite(nowMs: number): Promise<void> {
    await this.close();
    const gifts = this.giftsAt(nowMs);
    const text = gifts.map(lineOf).join("");
    replaceFile(this.#path, text, 0o600);
    this.#lines = gifts.length;
    this.#bytes = Buffer.byteLength(text);
    this.#file = await open(this.#path, "a", 0o600);
  }

  /** Closes the file after a failure, when it may end in a partial line. The next gift rewrites it. */
  async #abandonFile(): Promise<void> {
    await this.close().catch(() => undefined);
  }
}

function lineOf({ atMs, address, remoteHost, wei }: RecordedGift): string {
  return `${JSON.stringify({ atMs, address, remoteHost, wei: wei.toString() })}\n`;
}

/** Reads a line; leaves out a damaged one, which is no reason for a node not to start. */
function readLine(line: string): readonly RecordedGift[] {
  try {
    const { atMs, address, remoteHost, wei } = JSON.parse(line);
    return [
      { atMs: Number(atMs), address: String(address), remoteHost: String(remoteHost), wei: BigInt(wei) },
    ];
  } catch {
    return [];
  }
}
