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
 * The gifts of the last days, in memory and in a file of JSON lines. A gift is on disk before its transaction is sent, so that
 * a kill never lets one be given twice. A line that a kill has left unfinished was none.
 */
export class GiftRecord {
  readonly #path: string;
  readonly #keepMs: number;
  #gifts: RecordedGift[] = [];
  #lines = 0;
  /** Undefined where the file is not known to end with the newest gift's line. */
  #file: FileHandle | undefined;

  private constructor(path: string, keepMs: number) {
    this.#path = path;
    this.#keepMs = keepMs;
  }

  /** Reads the file, or makes it. Gifts older than `keepMs` are left out. Throws errors of the file system, and DiskError. */
  static async open(path: string, keepMs: number, nowMs: number): Promise<GiftRecord> {
    const record = new GiftRecord(path, keepMs);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    record.#gifts = text.split("\n").slice(0, -1).flatMap(readLine);
    await record.#rewrite(nowMs);
    return record;
  }

  /** Those that still count, the oldest first. */
  giftsAt(nowMs: number): readonly RecordedGift[] {
    const first = this.#gifts.findIndex(({ atMs }) => atMs > nowMs - this.#keepMs);
    if (first !== 0) this.#gifts.splice(0, first < 0 ? this.#gifts.length : first);
    return this.#gifts;
  }

  /** Resolves when the gift is on disk. Where it fails, the gift does not count, and the next one writes the file anew. */
  async add(gift: RecordedGift): Promise<void> {
    this.#gifts.push(gift);
    try {
      await this.#write(gift);
    } catch (error) {
      this.#gifts.pop();
      // The file may end in a part of the line.
      await this.close().catch(() => undefined);
      throw error;
    }
  }

  /** Takes a gift back whose transaction was not accepted. */
  async remove(gift: RecordedGift): Promise<void> {
    this.#gifts = this.#gifts.filter((other) => other !== gift);
    await this.#rewrite(gift.atMs);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #write(newest: RecordedGift): Promise<void> {
    const file = this.#file;
    if (file === undefined || this.#lines >= RECORD_LINES) return this.#rewrite(newest.atMs);
    await file.appendFile(lineOf(newest));
    await file.datasync();
    this.#lines++;
  }

  async #rewrite(nowMs: number): Promise<void> {
    await this.close();
    const gifts = this.giftsAt(nowMs);
    replaceFile(this.#path, gifts.map(lineOf).join(""), 0o600);
    this.#lines = gifts.length;
    this.#file = await open(this.#path, "a", 0o600);
  }
}

function lineOf({ atMs, address, remoteHost, wei }: RecordedGift): string {
  return `${JSON.stringify({ atMs, address, remoteHost, wei: wei.toString() })}\n`;
}

/** A damaged line is left out: it is no reason for a node not to start. */
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
