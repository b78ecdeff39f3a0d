import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_ACCOUNTS } from "../../../src/config/devNetwork.ts";
import { LEDGER_SOURCE } from "../../contracts/compile.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { foundryBinary, writeFoundryProject } from "../harness/foundryProject.ts";
import { type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";

/** forge deploys a suite of contracts, runs a script of transactions, and tests on a fork; it downloads nothing. */

const [forge, cast] = [foundryBinary("forge"), foundryBinary("cast")];
const [, , , , , , , account] = DEV_ACCOUNTS;

describe.skipIf(!IS_THOROUGH || forge === undefined || cast === undefined)("forge and cast", () => {
  let node: NodeProcess;
  let project: string;
  let ledger: string;

  beforeAll(async () => {
    project = writeFoundryProject({
      "src/Ledger.sol": LEDGER_SOURCE,
      "src/Cheats.sol": CHEATS,
      "script/Deposits.s.sol": SCRIPT,
      "test/Ledger.t.sol": TEST,
    });
    node = await startNodeProcess();
    // Compiled once for all tests.
    await run("build");
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  const run = (...args: string[]): Promise<string> => runProgram(forge as string, args);
  const runCast = (...args: string[]): Promise<string> => runProgram(cast as string, args);
  const runProgram = async (program: string, args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(program, args, {
      cwd: project,
      env: { ...process.env, NO_COLOR: "1", ETH_RPC_URL: node.httpUrl, LEDGER: ledger ?? "", HOME: project },
    });
    return stdout;
  };
  const key = ["--private-key", account?.privateKey ?? ""];

  it("deploys a contract", async () => {
    const args = ["create", "src/Ledger.sol:Ledger", ...key, "--broadcast", "--json"];
    const created = JSON.parse(await run(...args, "--constructor-args", "5")) as { deployedTo: string };
    ledger = created.deployedTo;
    expect(await node.rpc<string>("eth_getCode", [ledger, "latest"])).toMatch(/^0x60/);
  });

  it("sends the transactions of a script in order", async () => {
    await run("script", "script/Deposits.s.sol", ...key, "--broadcast", "--slow", "--rpc-url", node.httpUrl);
    expect(Number(await node.rpc("eth_getBalance", [ledger, "latest"]))).toBe(11 + 12);
  });

  it("sends the transactions of a script together, without waiting for one after the other", async () => {
    await run("script", "script/Deposits.s.sol", ...key, "--broadcast", "--rpc-url", node.httpUrl);
    expect(Number(await node.rpc("eth_getBalance", [ledger, "latest"]))).toBe(2 * (11 + 12));
  });

  it("tests on a fork of the chain, at its head and at an earlier block", async () => {
    const tested = JSON.parse(await run("test", "--fork-url", node.httpUrl, "--json")) as Record<
      string,
      { test_results: Record<string, { status: string; reason: string | null }> }
    >;
    const results = Object.values(tested).flatMap(({ test_results }) => Object.entries(test_results));
    expect(results.map(([name, { status, reason }]) => [name, status, reason])).toEqual([
      ["testHeldAtTheHead()", "Success", null],
      ["testNothingAtTheBeginning()", "Success", null],
      ["testRefusal()", "Success", null],
    ]);
  });

  it("sends from the node's own accounts without a key: a contract, a script, a transfer", async () => {
    const [sender = ""] = await node.rpc<readonly string[]>("eth_accounts");
    const unlocked = ["--unlocked", "--from", sender];
    const args = ["create", "src/Ledger.sol:Ledger", ...unlocked, "--broadcast", "--json"];
    const created = JSON.parse(await run(...args, "--constructor-args", "5")) as { deployer: string };
    expect(created.deployer.toLowerCase()).toBe(sender);
    const before = BigInt(await node.rpc<string>("eth_getBalance", [ledger, "latest"]));
    await run(
      ...["script", "script/Deposits.s.sol", "--unlocked", "--sender", sender, "--broadcast"],
      ...["--rpc-url", node.httpUrl],
    );
    expect(BigInt(await node.rpc<string>("eth_getBalance", [ledger, "latest"]))).toBe(before + 11n + 12n);
    const to = `0x${"5a".repeat(20)}`;
    const sent = JSON.parse(await runCast("send", to, "--value", "7", ...unlocked, "--json")) as {
      from: string;
      status: string;
    };
    expect([sent.from, sent.status]).toEqual([sender, "0x1"]);
    expect(await node.rpc("eth_getBalance", [to, "latest"])).toBe("0x7");
  });

  it("cast sends a call, replays it, and finds its logs from block 0 on", async () => {
    const sent = JSON.parse(
      await runCast("send", ledger, "deposit(string)", "by hand", "--value", "13", ...key, "--json"),
    ) as { transactionHash: string; status: string };
    expect(sent.status).toBe("0x1");
    expect(await runCast("run", sent.transactionHash, "--quick")).toMatch(/successfully executed/i);
    const logs = JSON.parse(
      await runCast("logs", "--from-block", "0", "--address", ledger, "--json"),
    ) as readonly { transactionHash: string }[];
    expect(logs.at(-1)?.transactionHash).toBe(sent.transactionHash);
    const refused = runCast("send", ledger, "withdraw(uint256)", "1000", ...key);
    await expect(refused).rejects.toThrow(/Insufficient|revert/i);
  });
});

const CHEATS = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
interface Cheats {
  function envAddress(string calldata name) external returns (address);
  function envString(string calldata name) external returns (string memory);
  function startBroadcast() external;
  function stopBroadcast() external;
  function createSelectFork(string calldata url, uint256 number) external returns (uint256);
  function expectRevert(bytes calldata data) external;
}
Cheats constant vm = Cheats(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
`;

const SCRIPT = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
import {vm} from "../src/Cheats.sol";
import {Ledger} from "../src/Ledger.sol";
contract Deposits {
  bool public IS_SCRIPT = true;
  function run() external {
    Ledger ledger = Ledger(vm.envAddress("LEDGER"));
    vm.startBroadcast();
    ledger.deposit{value: 11}("first");
    ledger.deposit{value: 12}("second");
    vm.stopBroadcast();
  }
}
`;

const TEST = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
import {vm} from "../src/Cheats.sol";
import {Ledger} from "../src/Ledger.sol";
contract LedgerTest {
  Ledger ledger;
  function setUp() external { ledger = Ledger(vm.envAddress("LEDGER")); }
  function testHeldAtTheHead() external {
    require(ledger.count() == 5 && ledger.entries(2) == 12, "deposits");
    ledger.deposit{value: 1}("here only");
    require(ledger.balances(address(this)) == 1, "own deposit");
  }
  function testNothingAtTheBeginning() external {
    vm.createSelectFork(vm.envString("ETH_RPC_URL"), 0);
    require(address(ledger).code.length == 0, "no code yet");
  }
  function testRefusal() external {
    vm.expectRevert(abi.encodeWithSelector(Ledger.Insufficient.selector, 0, 9));
    ledger.withdraw(9);
  }
}
`;
