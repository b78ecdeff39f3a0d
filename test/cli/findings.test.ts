import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { judgeDisk } from "../../src/cli/status/disk.ts";
import { findingsOf } from "../../src/cli/status/findings.ts";
import { findingsText, statusText } from "../../src/cli/status/statusText.ts";
import type { StatusReport } from "../../src/node/status/statusReport.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { ibexHere } from "./program.ts";

const NOW_MS = 1_800_000_000_000;
const WELL: StatusReport = {
  version: "ibex/v1",
  processId: 7,
  startedAtMs: NOW_MS - 3_600_000,
  nowMs: NOW_MS,
  chainId: "7171",
  networkId: "7171",
  genesisHash: `0x${"ab".repeat(32)}`,
  head: { number: 10, hash: `0x${"cd".repeat(32)}`, timestamp: NOW_MS / 1000 - 1 },
  isInSync: true,
  headAgeLimitMs: 8_000,
  pauses: [],
  consensus: {
    mode: "validating",
    address: "0x1",
    isValidator: true,
    quorum: "0x3",
    missing: [],
    validators: [],
  },
  pooled: 0,
  peerToPeer: {
    maxPeers: 25,
    discovered: 1,
    peers: [
      {
        address: "0x2",
        remote: "10.0.0.1:30303",
        client: "besu/v24.7.0",
        isInbound: true,
        isValidator: true,
      },
    ],
    unreachable: [],
  },
  servers: {},
  openFiles: { open: 50, limit: 65_536 },
  memory: { resident: 2e8, limit: 4e9 },
  minFreeDiskBytes: 5e8,
  optionWarnings: [],
  recentWarnings: [],
};
const consensus = (changed: object): Partial<StatusReport> => ({
  consensus: { ...(WELL.consensus as object), ...changed },
});

const SIGNER = { url: "http://signer:9000/", isSlow: false };
const GONE_SIGNER = {
  ...SIGNER,
  failure: { reason: "connect ECONNREFUSED", lastsMs: 180_000, requests: 9 },
};

describe("the judgement of a node", () => {
  it("has nothing to say of one that is well", () => {
    expect(findingsOf(WELL)).toEqual([]);
    expect(findingsText([])).toBe("All is well.\n");
  });

  it.each<[what: string, changed: Partial<StatusReport>, level: string, words: RegExp]>([
    [
      "a stalled chain",
      { head: { ...WELL.head, timestamp: NOW_MS / 1000 - 200 } },
      "problem",
      /no new block for 3 min/,
    ],
    ["a full disk", { pauses: ["diskAlmostFull"] }, "problem", /disk is almost full/],
    ["miner_stop", { pauses: ["operator"] }, "problem", /miner_stop/],
    ["a pause that a later version knows", { pauses: ["other"] }, "warning", /paused: other/],
    ["catching up", { isInSync: false, sync: { startingBlock: 0, highestBlock: 99 } }, "note", /#10 of #99/],
    ["an error of consensus", consensus({ mode: "failed" }), "problem", /Consensus has stopped/],
    [
      "lost votes",
      consensus({ silence: { reason: "lostVotes", upToHeight: "0x10" } }),
      "warning",
      /silent up to height 16/,
    ],
    ["an earlier vote", consensus({ mode: "bound" }), "note", /voted at a later height/],
    [
      "a missing validator",
      consensus({ missing: ["0xa"], validators: [1, 2, 3, 4] }),
      "warning",
      /1 of 4 .* 0xa/,
    ],
    [
      "no quorum",
      consensus({ missing: ["0xa", "0xb"], validators: [1, 2, 3, 4] }),
      "problem",
      /3 are needed/,
    ],
    [
      "no peers",
      { peerToPeer: { maxPeers: 25, discovered: 0, peers: [], unreachable: [] } },
      "problem",
      /no peers/,
    ],
    [
      "a signer that is gone",
      { signer: GONE_SIGNER },
      "problem",
      /no signature for 3 min: connect ECONNREFUSED/,
    ],
    [
      "the signer of a node that does not vote",
      { signer: GONE_SIGNER, ...consensus({ isValidator: false }) },
      "warning",
      /no signature/,
    ],
    [
      "a slow signer",
      { signer: { ...SIGNER, isSlow: true, last: { ageMs: 9, tookMs: 600 } } },
      "warning",
      /slow, 600 ms/,
    ],
    ["files", { openFiles: { open: 950, limit: 1_000 } }, "problem", /950 of 1000 files/],
    ["memory", { memory: { resident: 3.9e9, limit: 4e9 } }, "problem", /98 %/],
    ["its own memory", { memory: { resident: 3.95e9, own: 3.8e9, limit: 4e9 } }, "problem", /95 %/],
    [
      "that old blocks are removed",
      { blockHistory: { first: 400, kept: 1_024 } },
      "note",
      /old blocks: only those from #400 on are whole/,
    ],
    [
      "that old states are removed",
      { stateHistory: { first: 500, kept: 128, movedNodes: 0, deletedPages: 0 } },
      "note",
      /old states: those from #500 on are stored/,
    ],
    ["an option without effect", { optionWarnings: ["--x has no effect"] }, "note", /--x has no effect/],
  ])("tells %s", (_, changed, level, words) => {
    expect(findingsOf({ ...WELL, ...changed })).toMatchObject([
      { level, what: expect.stringMatching(words) },
    ]);
  });

  it("says nothing of mapped tables that fill the memory, which the system takes back", () => {
    expect(findingsOf({ ...WELL, memory: { resident: 3.9e9, own: 8e8, limit: 4e9 } })).toEqual([]);
  });

  it("tells of a disk that fills up, and that is full", () => {
    expect(judgeDisk({ freeBytes: 1e9, databaseBytes: 1 }, 5e8)).toMatchObject([{ level: "warning" }]);
    expect(judgeDisk({ freeBytes: 1e8, databaseBytes: 1 }, 5e8)).toMatchObject([{ level: "problem" }]);
    expect(judgeDisk({ freeBytes: undefined, databaseBytes: 1 }, 5e8)).toEqual([]);
  });

  it("shows how the remote signer does", () => {
    const lineOf = (signer: StatusReport["signer"]): string | undefined =>
      /^Signer .*$/m.exec(
        statusText({ ...WELL, ...(signer && { signer }) }, { freeBytes: 1, databaseBytes: 1 }, []),
      )?.[0];
    expect(lineOf(undefined)).toBeUndefined();
    expect(lineOf(SIGNER)).toMatch(/http:\/\/signer:9000\/, has not signed yet$/);
    expect(lineOf({ ...SIGNER, last: { ageMs: 2_000, tookMs: 3.4 } })).toMatch(/, signed 2 s ago in 3 ms$/);
    expect(lineOf(GONE_SIGNER)).toMatch(/, FAILING: connect ECONNREFUSED$/);
    expect(findingsOf({ ...WELL, signer: { ...SIGNER, last: { ageMs: 2_000, tookMs: 3.4 } } })).toEqual([]);
  });

  it("shows where blocks and states begin, and how far their removal is", () => {
    const linesOf = (changed: Partial<StatusReport>): string =>
      /^History .*?(?=^Disk)/ms.exec(
        statusText({ ...WELL, ...changed }, { freeBytes: 1, databaseBytes: 1 }, []),
      )?.[0] ?? "";
    expect(linesOf({})).toBe("");
    const blockHistory = { first: 400, kept: 1_024, toRemove: 300 };
    const stateHistory = { first: 500, kept: 128, toRemove: 90, movedNodes: 12, deletedPages: 0 };
    expect(linesOf({ blockHistory, stateHistory })).toBe(
      "History    whole blocks from #400 on, 1024 below the head are kept, 300 are being removed\n" +
        "           states from #500 on, 128 below the head are kept, 90 are being removed (12 trie nodes moved and 0 pages deleted so far)\n",
    );
    const { toRemove: _, ...unknown } = stateHistory;
    expect(linesOf({ stateHistory: { ...unknown, movedNodes: 99 } })).toBe(
      "History    states from #500 on, 128 below the head are kept\n",
    );
    const off = { first: 500, toRemove: 0, movedNodes: 0, deletedPages: 0 };
    expect(linesOf({ stateHistory: off })).toBe("History    states from #500 on, none is removed now\n");
    expect(findingsOf({ ...WELL, stateHistory: off })).toEqual([]);
  });

  it("reminds of what a stopped node removes, too", async () => {
    const { output } = await ibexHere([
      "--p2p-port=0",
      "--block-history=2000",
      "--state-history=1000",
      "doctor",
    ]);
    expect(output).toContain(
      "Note: This node removes old blocks: those older than 2000 below the head (--block-history). Make sure that another node",
    );
    expect(output).toContain(
      "Note: This node removes old states: those older than 1000 below the head (--state-history).",
    );
    expect((await ibexHere(["--p2p-port=0", "doctor"])).output).not.toContain("removes");
  });

  it.each(["rpc-http", "rpc-ws", "explorer", "metrics"])(
    "tell before a start that the port of --%s-port is taken",
    async (option) => {
      const other = createServer().listen(0, "127.0.0.1");
      onTestFinished(() => void other.close());
      await once(other, "listening");
      const { port } = other.address() as AddressInfo;
      const { output } = await ibexHere([
        "--p2p-port=0",
        `--${option}-enabled`,
        `--${option}-port=${port}`,
        "doctor",
      ]);
      expect(output).toContain(
        `Problem: The node cannot listen on 127.0.0.1:${port} (--${option}-port): EADDRINUSE.`,
      );
    },
  );

  it("tell before a start that something is in the way of the Unix socket, and leave it there", async () => {
    const path = join(temporaryFolder(), "node.ipc");
    const options = ["--p2p-port=0", "--Xrpc-ipc-enabled", `--Xrpc-ipc-path=${path}`, "doctor"];
    expect((await ibexHere(options)).output).not.toContain(path);
    const other = createServer().listen(path);
    onTestFinished(() => void other.close());
    await once(other, "listening");
    expect((await ibexHere(options)).output).toContain(
      `Problem: The node cannot listen at ${path} (--Xrpc-ipc-path): another process listens there.`,
    );
    expect(existsSync(path)).toBe(true);
  });

  it("shows no control characters of a peer", () => {
    const [peer] = WELL.peerToPeer?.peers ?? [];
    if (peer === undefined || WELL.peerToPeer === undefined) throw new Error();
    const peers = [{ ...peer, client: "evil\u001b[2J\u202e" }];
    const text = statusText(
      { ...WELL, peerToPeer: { ...WELL.peerToPeer, peers } },
      { freeBytes: 1, databaseBytes: 1 },
      [],
    );
    expect(text).toContain("evil�[2J�");
    expect(text).not.toContain("\u001b");
  });
});
