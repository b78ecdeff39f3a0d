import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { startNode } from "../../src/node/node.ts";
import type { RunningNode } from "../../src/node/runningNode.ts";
import { type RootLogger, silentLogger } from "../../src/observability/logger.ts";
import { openChainDatabase } from "../../src/storage/chainDatabase.ts";
import { openVoteLog } from "../../src/storage/votes/voteLog.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { itIfThorough } from "../thorough.ts";
import { settingsOf } from "./settingsOf.ts";

let folder: string;
let errors: string[];
let facts: object[];
let logger: RootLogger;

beforeEach(() => {
  folder = temporaryFolder();
  errors = [];
  facts = [];
  logger = {
    ...silentLogger,
    debug: (fields) => void facts.push(fields),
    error: (_, message) => void errors.push(message),
    child: () => logger,
  };
});

function start(options: Readonly<Record<string, string>> = {}) {
  return startNode(
    settingsOf(folder, { "data-path": folder, "rpc-http-port": "0", "rpc-ws-port": "0", ...options }),
    logger,
  );
}

async function started(): Promise<RunningNode> {
  const node = await start();
  if (!node.ok) throw new Error(node.error.message);
  return node.value;
}

describe("a node", () => {
  it("closes all of its parts even when one of them fails to close", async () => {
    const node = await started();
    rmSync(join(folder, "besu.ports"));
    mkdirSync(join(folder, "besu.ports"));
    await node.stop();
    expect(errors).toEqual(["a part of the node could not be closed"]);
    const paths = { path: join(folder, "chain"), headFile: join(folder, "head.log") };
    await (await openChainDatabase(paths)).close();
  });

  itIfThorough("does not start with an unreadable vote log, and names the file and the remedy", async () => {
    const path = join(folder, "votes.log");
    const votes = await openVoteLog(path);
    await votes.write(Uint8Array.of(0xc0));
    await votes.close();
    const node = await start();
    expect(node).toMatchObject({ ok: false, error: { code: "unusableDatabase" } });
    expect(node.ok ? "" : node.error.message).toContain(path);
    const paths = { path: join(folder, "chain"), headFile: join(folder, "head.log") };
    await (await openChainDatabase(paths)).close();
  });

  it("sizes its caches for the memory that --memory-mb names", async () => {
    const node = await start({ "memory-mb": "2048", "rpc-threads": "1", "explorer-enabled": "false" });
    if (node.ok) await node.value.stop();
    expect(facts).toContainEqual({ memoryMb: 2048, whenFullMb: expect.toSatisfy((mb: number) => mb < 820) });
  });

  it("does not start when the ports file cannot be written, and says why", async () => {
    mkdirSync(join(folder, "besu.ports"));
    const node = await start();
    expect(node).toMatchObject({ ok: false, error: { code: "unusableDataPath" } });
    expect(node.ok ? "" : node.error.message).toContain(join(folder, "besu.ports"));
  });
});
