import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { DEV_VALIDATOR_KEY, DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { epochChain } from "../../builders/epochChain.ts";
import { blockFileOf } from "../../builders/sealedChain.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { heightOf, reach } from "../harness/chainReading.ts";
import {
  freePort,
  type NodeProcess,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const HEAD = 1_400;
const PRUNING = ["--block-history=1024", "--state-history=128"];

/** A chain of one validator in the folder `archive`, and what an operator does with copies of it. */
class Operator {
  private readonly folder = temporaryFolder();
  private readonly ports = new Map<string, number>();
  private genesis = "";

  at(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  async makeArchive(): Promise<void> {
    const { genesis, blocks } = await epochChain({ head: HEAD, busyFrom: HEAD - 20 });
    this.genesis = this.at("genesis.json");
    writeFileSync(this.genesis, genesis);
    writeFileSync(this.at("chain.rlp"), blockFileOf(blocks));
    mkdirSync(this.at("archive"));
    const imported = await this.ibex("archive", "blocks", "import", this.at("chain.rlp"));
    expect(imported.exitCode, imported.output).toBe(0);
  }

  async ibex(name: string, ...args: readonly string[]) {
    const program = runProgram([`--data-path=${this.at(name)}`, `--genesis-file=${this.genesis}`, ...args]);
    return { exitCode: await program.exit, output: program.output() };
  }

  /** Starts a node, with the archive as its peer unless it is that. */
  async start(name: string, options: readonly string[], key?: string): Promise<NodeProcess> {
    const port = this.ports.get(name) ?? (await freePort());
    this.ports.set(name, port);
    mkdirSync(this.at(name), { recursive: true });
    const nodeId = toHex(curve.publicKey(DEV_VALIDATOR_KEY)).slice(2);
    const archive = `enode://${nodeId}@127.0.0.1:${this.ports.get("archive")}?discport=0`;
    const peers = key === undefined ? [archive] : [];
    writeFileSync(this.at(name, "static-nodes.json"), JSON.stringify(peers));
    const node = await startNodeProcess({
      dataPath: this.at(name),
      options: [
        `--genesis-file=${this.genesis}`,
        ...(key === undefined ? [] : [`--node-private-key-file=${key}`]),
        `--p2p-port=${port}`,
        "--p2p-interface=127.0.0.1",
        "--discovery-enabled=false",
        "--rpc-http-enabled",
        "--rpc-http-api=ETH,NET,WEB3,IBFT,DEBUG,TRACE",
        ...options,
      ],
    });
    onTestFinished(node.kill);
    return node;
  }

  async expectSound(name: string): Promise<void> {
    const { exitCode, output } = await this.ibex(name, "database", "check");
    expect([exitCode, output]).toEqual([0, expect.stringContaining("The database is sound.")]);
  }

  /** Where blocks and states begin, once nothing before is left to remove. */
  async removed(name: string): Promise<{ readonly blocks: number; readonly states: number }> {
    return until(async () => {
      const { output } = await this.ibex(name, "status", "--json");
      const { blockHistory, stateHistory } = JSON.parse(output);
      if (blockHistory.first === 0 || stateHistory.first === 0) return undefined;
      if (blockHistory.toRemove !== 0 || stateHistory.toRemove !== 0) return undefined;
      return { blocks: blockHistory.first, states: stateHistory.first };
    }, `the end of the removals of ${name}`);
  }
}

itIfThorough(
  "a node that removes old blocks and states is backed up, restored, copied by a snapshot and compared, and its validator handed over",
  async () => {
    const operator = new Operator();
    await operator.makeArchive();
    for (const part of ["chain", "head.log"])
      cpSync(operator.at("archive", part), operator.at("pruned", part), { recursive: true });
    writeFileSync(operator.at("pruned", "key"), toHex(accountFromSeed(7).privateKey), { mode: 0o600 });
    const archive = await operator.start("archive", [], DEV_VALIDATOR_KEY_FILE);
    const pruned = await operator.start("pruned", PRUNING);

    // Backups of each moment of the removals, and an export that does not get the folder.
    const refused = await operator.ibex("pruned", "snapshot", "export", `--to=${operator.at("none")}`);
    expect(refused).toMatchObject({ exitCode: 2, output: expect.stringContaining("is in use by process") });
    const backups = operator.at("backups");
    let isRemoved = false;
    const removing = operator.removed("pruned").then((begins) => {
      isRemoved = true;
      return begins;
    });
    while (!isRemoved) {
      const made = await operator.ibex("pruned", "backup", `--to=${backups}`);
      expect(made.exitCode, made.output).toBe(0);
    }
    await reach([pruned], (await heightOf(archive)) - 1);
    const { blocks, states } = await removing;
    expect([blocks >= HEAD - 1024, states >= HEAD - 128]).toEqual([true, true]);
    for (const [index, backup] of readdirSync(backups).entries()) {
      const name = `restored-${index}`;
      const restored = await operator.ibex(name, "backup", "restore", `--from=${join(backups, backup)}`);
      expect(restored.exitCode, restored.output).toBe(0);
      await operator.expectSound(name);
    }
    writeFileSync(operator.at("restored-0", "key"), toHex(accountFromSeed(8).privateKey), { mode: 0o600 });
    const restored = await operator.start("restored-0", PRUNING);
    await reach([restored], (await heightOf(archive)) + 1);
    await operator.removed("restored-0");
    expect(await restored.stop()).toBe(0);
    await operator.expectSound("restored-0");

    const compared = await operator.ibex(
      "pruned",
      "compare",
      `--with=${archive.httpUrl}`,
      `--node=${pruned.httpUrl}`,
    );
    expect(compared.output).toMatch(/only has blocks from \d+ on; comparing those/);
    expect(compared.output).toMatch(
      /NOT COMPARED: trace_block, .*: it no longer has the state of that block/,
    );
    expect(compared.output).not.toMatch(/DIFFERENT|waiting for/);
    expect(compared.exitCode).toBe(4);

    // Killed, it has snapshots of the states that it keeps, and names them where another is asked for.
    await pruned.kill();
    const exportOf = (number: number) =>
      operator.ibex("pruned", "snapshot", "export", `--block=${number}`, `--to=${operator.at(`${number}`)}`);
    const info = await operator.ibex("pruned", "database", "info");
    const first = Number(/states begin: with that of block (\d+)/.exec(info.output)?.[1]);
    expect(await exportOf(first - 1)).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining(
        `the state of block ${first - 1}: it has those from block ${first} on.`,
      ),
    });
    const exported = await exportOf(first);
    expect(exported.exitCode, exported.output).toBe(0);
    const { hash } = await archive.rpc<{ hash: string }>("eth_getBlockByNumber", [
      `0x${first.toString(16)}`,
      false,
    ]);
    const from = `--from=${operator.at(`${first}`)}`;
    const imported = await operator.ibex("newcomer", "snapshot", "import", from, `--block-hash=${hash}`);
    expect(imported.exitCode, imported.output).toBe(0);
    await operator.expectSound("newcomer");
    const newcomer = await operator.start("newcomer", PRUNING);
    await reach([newcomer], (await heightOf(archive)) + 1);
    expect(await newcomer.stop()).toBe(0);

    // The validator removes as well, and is handed over to the folder of another node that does.
    expect(await archive.stop()).toBe(0);
    const validator = await operator.start("archive", PRUNING, DEV_VALIDATOR_KEY_FILE);
    await operator.removed("archive");
    const head = await heightOf(validator);
    expect(await validator.stop()).toBe(0);
    const file = operator.at("validator.hand-over");
    const key = `--node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`;
    const given = await operator.ibex("archive", key, "validator", "hand-over", `--to=${file}`);
    expect(given.exitCode, given.output).toBe(0);
    await operator.expectSound("archive");
    const backup = await operator.ibex("archive", "backup", `--to=${operator.at("last")}`);
    expect(backup.exitCode, backup.output).toBe(0);
    const [last = ""] = readdirSync(operator.at("last"));
    const brought = await operator.ibex(
      "successor",
      "backup",
      "restore",
      `--from=${operator.at("last", last)}`,
    );
    expect(brought.exitCode, brought.output).toBe(0);
    const taken = await operator.ibex("successor", "validator", "take-over", `--from=${file}`);
    expect(taken.exitCode, taken.output).toBe(0);
    const successor = await operator.start("successor", PRUNING, operator.at("successor", "key"));
    await reach([successor], head + 3);
    expect(await successor.stop()).toBe(0);
    await operator.expectSound("successor");
  },
);
