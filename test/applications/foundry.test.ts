import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { toFunctionSelector } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_ACCOUNTS } from "../../src/config/devNetwork.ts";
import { foundryBinary, writeFoundryProject } from "../cluster/harness/foundryProject.ts";
import { type NodeProcess, startNodeProcess } from "../cluster/harness/nodeProcess.ts";
import { applicationSources } from "../contracts/applications.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { DAY, MINIMUM_LOCKER_SECONDS } from "./parameters.ts";

/** The way of those who have no program of their own: forge deploys the applications, cast uses them. */

const [forge, cast] = [foundryBinary("forge"), foundryBinary("cast")];
const [, , , , , , , , account] = DEV_ACCOUNTS;

describe.skipIf(!IS_THOROUGH || forge === undefined || cast === undefined)("forge and cast", () => {
  let node: NodeProcess;
  let project: string;

  beforeAll(async () => {
    const sources = Object.entries(applicationSources()).map(
      ([name, text]) => [`src/${name}`, text] as const,
    );
    project = writeFoundryProject(Object.fromEntries(sources), "berlin");
    node = await startNodeProcess();
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  const run = async (binary: string | undefined, ...args: string[]): Promise<string> => {
    const env = { ...process.env, NO_COLOR: "1", ETH_RPC_URL: node.httpUrl, HOME: project };
    const { stdout } = await promisify(execFile)(binary as string, args, { cwd: project, env });
    return stdout.trim();
  };
  const key = ["--private-key", account?.privateKey ?? ""];
  const create = async (name: string, ...args: string[]): Promise<string> => {
    const words = [
      "create",
      `src/${name}.sol:${name}`,
      ...key,
      "--broadcast",
      "--json",
      "--constructor-args",
      ...args,
    ];
    return (JSON.parse(await run(forge, ...words)) as { deployedTo: string }).deployedTo;
  };
  const send = (to: string, ...call: string[]) => run(cast, "send", to, ...call, ...key, "--json");

  it("deploy a token and a locker, lock, and are refused what is locked", async () => {
    const token = await create("IssuedToken", "Token", "TKN", "18", "1000");
    const locker = await create("Locker", `${MINIMUM_LOCKER_SECONDS}`);
    expect(await run(cast, "call", locker, "minimumSeconds()(uint256)")).toMatch(/^86400\b/);
    await send(token, "approve(address,uint256)", locker, "600");
    const unlocksAt = BigInt(await run(cast, "block", "latest", "--field", "timestamp")) + 2n * DAY;
    const locked = JSON.parse(
      await send(locker, "lock(address,uint256,uint256)", token, "600", `${unlocksAt}`),
    ) as { readonly status: string; readonly logs: readonly unknown[] };
    expect([locked.status, locked.logs.length]).toEqual(["0x1", 2]);
    expect(await run(cast, "call", token, "balanceOf(address)(uint256)", locker)).toBe("600");
    const unlock = ["call", locker, "unlock(uint256)", "0", "--from", account?.address ?? ""];
    await expect(run(cast, ...unlock)).rejects.toThrow(toFunctionSelector("StillLocked(uint256)"));
    await expect(send(locker, "unlock(uint256)", "0")).rejects.toThrow(
      toFunctionSelector("StillLocked(uint256)"),
    );
  });
});
