import { appendFileSync, linkSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { GiftRecord, type RecordedGift } from "../../src/faucet/giftRecord.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

const NOW_MS = 1_700_000_000_000;

const gift = (address: string): RecordedGift => ({ atMs: NOW_MS, address, remoteHost: "a", wei: 1n });

describe("the record of gifts", () => {
  let path = "";
  let record: GiftRecord;

  async function openRecord(): Promise<GiftRecord> {
    const opened = await GiftRecord.open(path, 1000, NOW_MS);
    onTestFinished(() => opened.close());
    return opened;
  }
  const addressesIn = (of: GiftRecord) => of.giftsAt(NOW_MS).map(({ address }) => address);

  beforeEach(async () => {
    path = join(temporaryFolder(), "faucet.jsonl");
    record = await openRecord();
  });

  it("refuses gifts while the disk is full, and has all others when it is not any more", async () => {
    await record.add(gift("0x1"));
    await fillDiskDuringNextAppend();
    await expect(record.add(gift("0x2"))).rejects.toThrow("ENOSPC");
    // Keeps a new file from being written.
    mkdirSync(`${path}.new`);
    for (const address of ["0x3", "0x4"]) await expect(record.add(gift(address))).rejects.toThrow(path);
    expect(addressesIn(record)).toEqual(["0x1"]);
    rmdirSync(`${path}.new`);
    for (const address of ["0x5", "0x6"]) await record.add(gift(address));
    expect(addressesIn(record)).toEqual(["0x1", "0x5", "0x6"]);
    expect(addressesIn(await openRecord())).toEqual(["0x1", "0x5", "0x6"]);
  });

  it("takes the newest gift back by cutting its line off", async () => {
    await record.add(gift("0x1"));
    // Another name of the file, which would keep the old content if the record were written anew.
    linkSync(path, `${path}.same`);
    for (const address of ["0x2", "0x3"]) {
      await record.add(gift(address));
      await record.removeNewest();
    }
    await record.add(gift("0x4"));
    expect(addressesIn(record)).toEqual(["0x1", "0x4"]);
    for (const file of [path, `${path}.same`])
      expect(readFileSync(file, "utf8").match(/0x\d/g)).toEqual(["0x1", "0x4"]);
    const again = await openRecord();
    await again.removeNewest();
    expect(addressesIn(await openRecord())).toEqual(["0x1"]);
  });

  /** The next append writes a part of its line and fails. */
  async function fillDiskDuringNextAppend(): Promise<void> {
    const other = await open(`${path}.other`, "w");
    const prototype: FileHandle = Object.getPrototypeOf(other);
    await other.close();
    const append = vi.spyOn(prototype, "appendFile").mockImplementationOnce(async (line) => {
      appendFileSync(path, String(line).slice(0, 20));
      throw new Error("ENOSPC: no space left on device, write");
    });
    onTestFinished(() => append.mockRestore());
  }
});
