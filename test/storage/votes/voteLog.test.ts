import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DamagedData } from "../../../src/storage/database.ts";
import { openVoteLog, type VoteLog } from "../../../src/storage/votes/voteLog.ts";
import { generator } from "../random.ts";
import { temporaryFolder } from "../temporaryFolder.ts";

describe("the vote log", () => {
  it("returns the newest record, also after it is opened again", async () => {
    const path = join(temporaryFolder(), "votes.log");
    const store = await openVoteLog(path);
    expect(store.read()).toBeUndefined();
    await Promise.all([1, 2, 3].map((value) => store.write(vote(value))));
    expect(store.read()).toEqual(vote(3));
    await store.close();
    expect((await opened(path)).read()).toEqual(vote(3));
  });

  it("copies the bytes of a record", async () => {
    const store = await opened(join(temporaryFolder(), "votes.log"));
    const record = vote(1);
    await store.write(record);
    record.fill(9);
    expect(store.read()).toEqual(vote(1));
  });

  it("starts a new file before it grows beyond its limit, and loses nothing", async () => {
    const path = join(temporaryFolder(), "votes.log");
    const store = await openVoteLog(path, 5000);
    for (let value = 0; value < 50; value++) {
      await store.write(vote(value));
      expect(statSync(path).size).toBeLessThanOrEqual(5000);
    }
    await store.close();
    const again = await opened(path);
    expect(again.read()).toEqual(vote(49));
    await again.write(vote(50));
    expect(again.read()).toEqual(vote(50));
  });

  it.each([
    ["a part of one", (bytes: Uint8Array) => bytes.subarray(0, 100)],
    ["only zeros of one", () => new Uint8Array(1000)],
    ["one with its middle missing", (bytes: Uint8Array) => Uint8Array.from(bytes).fill(0, 300, 600)],
  ])("drops a record that a power cut interrupted: %s", async (_, torn) => {
    const path = join(temporaryFolder(), "votes.log");
    const recordBytes = await writeVotes(path, 4);
    const fourth = readFileSync(path).subarray(3 * recordBytes);
    const [threeVotes, threeMarks] = await filesAfter(3);
    writeFileSync(path, threeVotes);
    writeFileSync(`${path}.mark`, threeMarks);
    appendFileSync(path, torn(fourth));
    const store = await opened(path);
    expect(store.read()).toEqual(vote(2));
    await store.write(vote(7));
    await store.close();
    expect((await opened(path)).read()).toEqual(vote(7));
  });

  it("cuts off a torn end, so that nothing after it is read behind the next record", async () => {
    const path = join(temporaryFolder(), "votes.log");
    const recordBytes = await writeVotes(path, 3);
    const second = readFileSync(path).subarray(recordBytes, 2 * recordBytes);
    appendFileSync(path, Buffer.concat([new Uint8Array(recordBytes), second]));
    const store = await opened(path);
    expect(statSync(path).size).toBe(3 * recordBytes);
    await store.write(vote(7));
    await store.close();
    expect((await opened(path)).read()).toEqual(vote(7));
  });

  it("writes nothing after a write that failed, so that no record follows a torn one", async () => {
    const path = join(temporaryFolder(), "votes.log");
    const store = await openVoteLog(path, 2500);
    await store.write(vote(1));
    await store.write(vote(2));
    mkdirSync(`${path}.new`);
    await expect(store.write(vote(3))).rejects.toThrow(/cannot be written/);
    rmdirSync(`${path}.new`);
    await expect(store.write(vote(4))).rejects.toThrow(/cannot be written/);
    expect(store.read()).toEqual(vote(2));
    await store.close();
    expect((await opened(path)).read()).toEqual(vote(2));
  });

  it.each([
    [
      "the newest record is cut off",
      (path: string, recordBytes: number) => truncateSync(path, 2 * recordBytes),
    ],
    ["the newest record is cut through", (path: string) => truncateSync(path, statSync(path).size - 1)],
    ["a bit of the newest record flipped", (path: string, bytes: number) => flip(path, 2 * bytes + 50)],
    ["a bit of an older record flipped", (path: string, bytes: number) => flip(path, bytes + 50)],
    ["a length flipped", (path: string, bytes: number) => flip(path, bytes)],
    ["the file is empty", (path: string) => truncateSync(path, 0)],
    ["the file is gone", (path: string) => rmSync(path)],
  ])("refuses to open when %s", async (_, damage) => {
    const path = join(temporaryFolder(), "votes.log");
    damage(path, await writeVotes(path, 3));
    await expect(openVoteLog(path)).rejects.toBeInstanceOf(DamagedData);
    await expect(openVoteLog(path)).rejects.toThrow(/vote log .* is damaged.*could contradict it/);
  });

  it("starts empty when an operator deletes file and mark", async () => {
    const path = join(temporaryFolder(), "votes.log");
    await writeVotes(path, 3);
    rmSync(path);
    rmSync(`${path}.mark`);
    expect((await opened(path)).read()).toBeUndefined();
    expect(existsSync(path)).toBe(true);
  });
});

async function opened(path: string): Promise<VoteLog> {
  const store = await openVoteLog(path);
  onTestFinished(() => store.close());
  return store;
}

/** Writes `count` votes of one length; returns the bytes of each in the file. */
async function writeVotes(path: string, count: number): Promise<number> {
  const store = await openVoteLog(path);
  for (let value = 0; value < count; value++) await store.write(vote(value));
  await store.close();
  return statSync(path).size / count;
}

async function filesAfter(count: number): Promise<readonly [votes: Uint8Array, marks: Uint8Array]> {
  const path = join(temporaryFolder(), "votes.log");
  await writeVotes(path, count);
  return [readFileSync(path), readFileSync(`${path}.mark`)];
}

function vote(value: number): Uint8Array {
  return generator(value).bytes(1000);
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}
