import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  type NodeProcess,
  type RpcFailure,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const ENABLED = "--permissions-accounts-config-file-enabled";

function addressOf(who: number): Hex {
  return toHex(account(who).address);
}

function from(who: number): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey });
}

function send(node: NodeProcess, who: number): Promise<unknown> {
  return node.rpc("eth_sendRawTransaction", [toHex(from(who).raw)]).catch((error: RpcFailure) => ({
    code: error.code,
    message: error.message,
  }));
}

function mined(node: NodeProcess, who: number): Promise<unknown> {
  return until(
    async () => (await node.rpc("eth_getTransactionReceipt", [toHex(from(who).hash)])) ?? undefined,
    "a receipt",
  );
}

const REFUSED = { code: -32007, message: "Sender account not authorized to send transactions" };

describe("a node with an account allowlist", () => {
  itIfThorough("accepts the listed accounts, applies changes at once, and keeps them", async () => {
    const dataPath = temporaryFolder();
    const file = join(dataPath, "permissions_config.toml");
    writeFileSync(file, `# Who may send\naccounts-allowlist=["${addressOf(0)}"]\n`);
    const node = await startNodeProcess({ dataPath, options: [ENABLED] });
    expect(await send(node, 1)).toEqual(REFUSED);
    expect(await send(node, 0)).toBe(toHex(from(0).hash));
    await mined(node, 0);
    expect(await node.rpc("perm_addAccountsToAllowlist", [[addressOf(1)]])).toBe("Success");
    expect(await send(node, 1)).toBe(toHex(from(1).hash));
    await mined(node, 1);
    expect(readFileSync(file, "utf8")).toBe(
      `# Who may send\naccounts-allowlist=["${addressOf(0)}","${addressOf(1)}"]\n`,
    );
    expect(await node.stop()).toBe(0);

    const restarted = await startNodeProcess({ dataPath, options: [ENABLED] });
    expect(await restarted.rpc("perm_getAccountsAllowlist")).toEqual([addressOf(0), addressOf(1)]);
    expect(await restarted.rpc("perm_removeAccountsFromAllowlist", [[addressOf(0)]])).toBe("Success");
    expect(await send(restarted, 2)).toEqual(REFUSED);
    // Blocks may still contain transactions of other accounts: the list is local, and not a rule of the chain.
    expect(
      await restarted.rpc<{ status: string }>("eth_getTransactionReceipt", [toHex(from(0).hash)]),
    ).toMatchObject({
      status: "0x1",
    });
    expect(await restarted.stop()).toBe(0);
  });

  it.each([
    ["is missing", undefined, /no such file or directory/],
    [
      "contains an invalid account",
      `accounts-allowlist=[\n"${addressOf(0)}",\n"0x12"]`,
      /Invalid account 0x12 \(accounts-allowlist in line 3 of \S+permissions_config.toml\)/,
    ],
  ])("does not start when the file %s", async (_, text, reason) => {
    const dataPath = temporaryFolder();
    mkdirSync(dataPath, { recursive: true });
    if (text !== undefined) writeFileSync(join(dataPath, "permissions_config.toml"), text);
    const program = runProgram([`--data-path=${dataPath}`, ENABLED]);
    expect(await program.exit).toBe(2);
    expect(program.output()).toMatch(reason);
  });
});
