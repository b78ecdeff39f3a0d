import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";

/*
 * Which data is durable when an operation returns. A test that kills a process cannot tell, because the system still
 * writes its buffers. So these tests record the calls, in order, up to the moment when the result becomes visible.
 */
vi.mock("node:fs", async (original) => {
  const { recordingFiles } = await import("../builders/durableCalls.ts");
  return recordingFiles(await original<typeof import("node:fs")>());
});
vi.mock("node:fs/promises", async (original) => {
  const { recordingAsyncFiles } = await import("../builders/durableCalls.ts");
  return recordingAsyncFiles(await original<typeof import("node:fs/promises")>());
});
vi.mock("classic-level", async (original) => {
  const { ClassicLevel } = await original<typeof import("classic-level")>();
  class Recording extends ClassicLevel {
    override batch(): never;
    override batch() {
      const chained = super.batch();
      const write = chained.write.bind(chained);
      chained.write = async (options?: { readonly sync?: boolean | undefined }) => {
        await write(options ?? {});
        durableCalls.push(options?.sync === true ? "write and sync the batch" : "write the batch");
      };
      return chained as never;
    }
  }
  return { ClassicLevel: Recording };
});

const { writeFileSync } = await import("node:fs");
const { silentLogger } = await import("../../src/observability/logger.ts");
const { openNodeKey } = await import("../../src/node/keys/nodeKey.ts");
const { PoolFile } = await import("../../src/txpool/poolFile.ts");
const { writeListedTexts } = await import("../../src/permissioning/permissionsFile.ts");
const { Batch } = await import("../../src/storage/batch.ts");
const { openLevelDatabase } = await import("../../src/storage/leveldb/levelDatabase.ts");
const { openVoteLog } = await import("../../src/storage/votes/voteLog.ts");
const { openMarkerFile } = await import("../../src/storage/markerFile.ts");
const { durableCalls } = await import("../builders/durableCalls.ts");
const { temporaryFolder } = await import("./temporaryFolder.ts");

beforeEach(() => void durableCalls.splice(0));

/** The calls since the last time. */
const calls = (): readonly string[] => durableCalls.splice(0);
const without = (name: string): readonly string[] => calls().filter((call) => !call.includes(name));

describe("durable before visible", () => {
  it("a vote, before its write resolves", async () => {
    const store = await openVoteLog(join(temporaryFolder(), "votes.log"), 400);
    expect(without(".mark")).toEqual(["sync folder", "sync votes.log", "sync folder"]);
    await store.write(Uint8Array.of(1));
    expect(calls()).toEqual(["write votes.log", "sync votes.log", "write votes.log.mark"]);
    await store.write(new Uint8Array(380));
    expect(calls()).toEqual([
      "write votes.log.new",
      "sync votes.log.new",
      "rename votes.log.new votes.log",
      "sync folder",
      "write votes.log.mark",
    ]);
    await store.close();
  });

  it("a vote in a file whose creator was killed before its folder was synced", async () => {
    const path = join(temporaryFolder(), "votes.log");
    writeFileSync(path, "");
    calls();
    const store = await openVoteLog(path);
    expect(without(".mark")).toEqual(["sync folder", "sync folder"]);
    await store.close();
  });

  it("all queued votes, before the vote log is closed", async () => {
    const store = await openVoteLog(join(temporaryFolder(), "votes.log"));
    calls();
    const written = [1, 2, 3].map((vote) => store.write(Uint8Array.of(vote)));
    await store.close();
    expect(without(".mark")).toEqual(Array(3).fill(["write votes.log", "sync votes.log"]).flat());
    await Promise.all(written);
  });

  it("a block, before its commit resolves", async () => {
    const database = await openLevelDatabase({ path: join(temporaryFolder(), "chain") });
    const batch = new Batch();
    batch.put(Uint8Array.of(1), Uint8Array.of(2));
    calls();
    await database.write(batch);
    expect(calls()).toEqual(["write and sync the batch"]);
    await database.close();
  });

  it("the mark of a rewind, before the rewind; that of a commit is not synced", () => {
    const markerFile = openMarkerFile(join(temporaryFolder(), "head.log"), "the mark");
    expect(calls()).toEqual([
      "write head.log.new",
      "sync head.log.new",
      "rename head.log.new head.log",
      "sync folder",
    ]);
    const mark = { position: 1n, fingerprint: new Uint8Array(32) };
    markerFile.write(mark);
    expect(calls()).toEqual(["write head.log"]);
    markerFile.writeSynced(mark);
    expect(calls()).toEqual(["write head.log", "sync head.log"]);
    markerFile.close();
  });

  it("a new node key, before its address is used", () => {
    expect(openNodeKey({ path: join(temporaryFolder(), "key") }).ok).toBe(true);
    expect(calls()).toEqual(["write key", "sync key", "sync folder"]);
  });

  it("a saved pool and an operator's list, before they replace the old file", async () => {
    const folder = temporaryFolder();
    const pool = { add: () => expect.fail("nothing to add"), entries: () => [][Symbol.iterator]() };
    const file = new PoolFile(join(folder, "txpool.dump"), {
      pool,
      recoverSigners: async () => [],
      clock: { nowMs: () => 0 },
      logger: silentLogger,
    });
    file.restore();
    await file.save();
    expect(calls()).toEqual(["sync txpool.dump.new", "rename txpool.dump.new txpool.dump", "sync folder"]);

    const list = join(folder, "permissions_config.toml");
    writeFileSync(list, "accounts-allowlist=[]\n");
    calls();
    writeListedTexts(list, "accounts-allowlist", [`0x${"11".repeat(20)}`]);
    expect(calls()).toEqual([
      "write permissions_config.toml.new",
      "sync permissions_config.toml.new",
      "rename permissions_config.toml.new permissions_config.toml",
      "sync folder",
    ]);
  });
});
