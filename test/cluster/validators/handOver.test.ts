import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { itIfThorough } from "../../thorough.ts";
import { hashesOf, heightOf, reach } from "../harness/chainReading.ts";
import {
  freePort,
  logOf,
  type NodeProcess,
  runProgram,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/** Runs the program to its end. */
async function ibex(network: ValidatorNetwork, dataPath: string, ...words: readonly string[]) {
  const program = runProgram([
    `--data-path=${dataPath}`,
    `--genesis-file=${network.genesisFile}`,
    "--p2p-host=127.0.0.1",
    ...words,
  ]);
  return { exitCode: await program.exit, output: program.output() };
}

const produces = (node: NodeProcess): Promise<true> =>
  until(
    async () => (logOf(node).some(({ message }) => message.startsWith("Produced #")) ? true : undefined),
    "a block of this node",
  );

describe("a validator that is handed over", () => {
  // test/cli/handOver.test.ts does it daily, without the network.
  itIfThorough(
    "votes in its new folder at once, and the old one refuses to start, until it is handed back",
    async () => {
      const network = await prepareNetwork({ validators: 4 });
      onTestFinished(network.stopAll);
      const nodes = await network.startAll();
      await reach(nodes, 3);
      const [moved, ...others] = [...network.members].reverse() as [Member, ...Member[]];
      const file = join(temporaryFolder(), "validator.hand-over");
      const giving = [`--p2p-port=${moved.peerPort}`, "validator", "hand-over"] as const;

      const nowhere = await ibex(network, moved.dataPath, ...giving, `--to=${join(file, "no folder")}`);
      expect(nowhere).toEqual({ exitCode: 1, output: expect.stringContaining("does not exist") });
      expect(moved.node?.child.exitCode).toBeNull();
      const given = await ibex(network, moved.dataPath, ...giving, `--to=${file}`);
      expect(given).toEqual({ exitCode: 0, output: expect.stringContaining(toHex(moved.key.address)) });
      expect(given.output).toContain(`The node in ${moved.dataPath} was stopped.`);
      expect(moved.node?.child.exitCode).toBe(0);
      const copyOfOld = temporaryFolder();
      cpSync(moved.dataPath, copyOfOld, { recursive: true });
      rmSync(join(copyOfOld, "hand-over.json"));
      const refused = await ibex(network, moved.dataPath);
      expect(refused).toEqual({ exitCode: 2, output: expect.stringContaining("validator hand-over --undo") });

      // A copy of the old folder, without the mark, as an operator may start by mistake; here it has no peers.
      rmSync(join(copyOfOld, "static-nodes.json"));
      const second: Member = { ...moved, dataPath: copyOfOld, peerPort: await freePort(), node: undefined };
      const running = await network.start(second);
      onTestFinished(() => running.kill());
      const dataPath = temporaryFolder();
      const taking = ["validator", "take-over", `--from=${file}`] as const;
      const whileRunning = await ibex(
        network,
        dataPath,
        ...taking,
        `--old-node=127.0.0.1:${second.peerPort}`,
      );
      expect(whileRunning).toEqual({
        exitCode: 1,
        output: expect.stringContaining(
          `127.0.0.1:${second.peerPort}: a node with this validator's key answers`,
        ),
      });
      const byUrl = await ibex(network, dataPath, ...taking, `--old-node=${running.httpUrl}`);
      expect(byUrl.output).toContain(`${running.httpUrl}: a node with this validator's key answers`);
      await running.stop();

      const taken = await ibex(network, dataPath, ...taking);
      expect(taken).toEqual({ exitCode: 0, output: expect.stringContaining("votes: up to height ") });
      cpSync(join(moved.dataPath, "static-nodes.json"), join(dataPath, "static-nodes.json"));
      const elsewhere: Member = { ...moved, dataPath, peerPort: await freePort(), node: undefined };
      const fresh = await network.start(elsewhere);
      onTestFinished(() => fresh.kill());
      await produces(fresh);
      expect(fresh.output()).not.toMatch(/has no record of its votes|older than its votes|TWO NODES/);
      await fresh.stop();

      const again = await ibex(network, dataPath, ...taking);
      expect(again).toEqual({ exitCode: 1, output: expect.stringContaining("was used in") });
      const back = join(temporaryFolder(), "back");
      expect((await ibex(network, dataPath, "validator", "hand-over", `--to=${back}`)).exitCode).toBe(0);
      expect(await ibex(network, moved.dataPath, "validator", "take-over", `--from=${back}`)).toMatchObject({
        exitCode: 0,
      });
      const home = await network.start(moved);
      await produces(home);
      const height = Math.min(...(await Promise.all([home, ...nodesOf(others)].map(heightOf))));
      const [first, ...rest] = await Promise.all(
        [home, ...nodesOf(others)].map((node) => hashesOf(node, 1, height)),
      );
      for (const other of rest) expect(other).toEqual(first);
    },
  );
});

const nodesOf = (members: readonly Member[]): readonly NodeProcess[] =>
  members.flatMap(({ node }) => (node === undefined ? [] : [node]));
