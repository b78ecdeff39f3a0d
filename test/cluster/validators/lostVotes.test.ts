import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { itIfThorough } from "../../thorough.ts";
import { hashesOf, heightOf, reach } from "../harness/chainReading.ts";
import {
  freePort,
  type LogLine,
  logOf,
  type NodeProcess,
  runProgram,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

interface Status {
  readonly mode: string;
  readonly silence: { readonly reason: string; readonly upToHeight: string } | null;
}

const statusOf = (node: NodeProcess): Promise<Status> => node.rpc<Status>("ibft_status");

/** The first line of the log with these words. */
function said(node: NodeProcess, words: RegExp): Promise<LogLine> {
  return until(async () => logOf(node).find(({ message }) => words.test(message)), `${words}`);
}

async function takesPart(node: NodeProcess): Promise<void> {
  const mode = async () => ((await statusOf(node)).mode === "validating" ? true : undefined);
  await until(mode, "taking part");
}

/** Waits for a block of this validator above a height. */
async function proposes(node: NodeProcess, { key }: Member, above: number): Promise<void> {
  const proposed = async () => {
    const { number, miner } = await node.rpc<{ number: string; miner: string }>("eth_getBlockByNumber", [
      "latest",
      false,
    ]);
    return Number(number) > above && miner === toHex(key.address) ? true : undefined;
  };
  await until(proposed, "a block of this validator");
}

/** Four validators that have made a few blocks. */
async function fourValidators(): Promise<{ network: ValidatorNetwork; last: Member; nodes: NodeProcess[] }> {
  const network = await prepareNetwork({ validators: 4 });
  onTestFinished(network.stopAll);
  const nodes = [...(await network.startAll())];
  await reach(nodes, 3);
  const last = network.members[3];
  if (last === undefined) throw new Error("there are four");
  return { network, last, nodes };
}

async function expectOneChain(nodes: readonly NodeProcess[]): Promise<void> {
  const height = Math.min(...(await Promise.all(nodes.map(heightOf))));
  const [first, ...others] = await Promise.all(nodes.map((node) => hashesOf(node, 1, height)));
  for (const other of others) expect(other).toEqual(first);
}

describe("a validator", () => {
  itIfThorough(
    "whose vote log was deleted says why it is silent, and votes again when the network is past the height",
    async () => {
      const { network, last, nodes } = await fourValidators();
      await last.node?.stop();
      for (const name of ["votes.log", "votes.log.mark"]) rmSync(join(last.dataPath, name));
      const node = await network.start(last);
      const line = await said(node, /has no record of its votes/);
      expect(line).toMatchObject({ level: "WARN", reason: "missing" });
      expect(line.message).toContain(toHex(last.key.address));
      const silentUpTo = Number(line["upToHeight"]);
      const again = await said(node, /^this node proposes and votes again/);
      expect(Number(again["height"])).toBeGreaterThan(silentUpTo);
      await takesPart(node);
      expect((await statusOf(node)).silence).toBeNull();
      // A restart finds a sound record now.
      await node.stop();
      const restarted = await network.start(last);
      await takesPart(restarted);
      expect(restarted.output()).not.toContain("has no record");
      await expectOneChain([...nodes.slice(0, 3), restarted]);
    },
  );

  itIfThorough(
    "whose whole folder is an older copy notices it by the seals of its key, and votes again later",
    async () => {
      const { network, last, nodes } = await fourValidators();
      await last.node?.stop();
      const heightOfCopy = await heightOf(nodes[0] as NodeProcess);
      const copy = temporaryFolder();
      cpSync(last.dataPath, copy, { recursive: true });
      const later = await network.start(last);
      await takesPart(later);
      // What it only fetches shows no vote of its own.
      await proposes(later, last, heightOfCopy);
      await later.stop();
      rmSync(last.dataPath, { recursive: true });
      cpSync(copy, last.dataPath, { recursive: true });
      const restored = await network.start(last);
      const line = await said(restored, /record of votes of the validator 0x\w+ is older than its votes/);
      expect(line).toMatchObject({ level: "WARN", reason: "old" });
      await said(restored, /^this node proposes and votes again/);
      await takesPart(restored);
      await expectOneChain([...nodes.slice(0, 3), restored]);
    },
  );
});

describe("two of four validators whose key files are swapped", () => {
  itIfThorough(
    "are silent at first, because the votes in their folders are not theirs, and forget nothing of the chain",
    async () => {
      const { network, nodes } = await fourValidators();
      const [third, fourth] = network.members.slice(2) as [Member, Member];
      for (const { node } of [third, fourth]) await node?.stop();
      writeFileSync(join(third.dataPath, "key"), toHex(fourth.key.privateKey));
      writeFileSync(join(fourth.dataPath, "key"), toHex(third.key.privateKey));
      // The others call each by the id of its former key; they call the others themselves.
      for (const member of [third, fourth]) {
        const node = await network.start(member);
        const line = await said(node, /^this folder has the votes of the validator/);
        expect(line.message).toContain(`votes of the validator ${toHex(member.key.address)}, but the key is`);
        await said(node, /has no record of its votes/);
      }
      // Two of four are no quorum, and the two know nothing of their votes: the safe step is due.
      for (const { node } of [third, fourth])
        await said(node as NodeProcess, /run ibex validator forget-votes on each silent one/);
      for (const { node } of [third, fourth]) await node?.stop();
      for (const { dataPath, key } of [third, fourth])
        writeFileSync(join(dataPath, "key"), toHex(key.privateKey));
      await expectOneChain(nodes.slice(0, 2));
    },
  );
});

describe("two of four validators that lose their votes at once", () => {
  itIfThorough("are too many: both say the safe step, which brings the chain back", async () => {
    const { network } = await fourValidators();
    const losers = network.members.slice(2);
    await Promise.all(losers.map(({ node }) => node?.kill()));
    for (const { dataPath } of losers)
      for (const name of ["votes.log", "votes.log.mark"]) rmSync(join(dataPath, name));
    for (const loser of losers) {
      const node = await network.start(loser);
      // Where the others repeat the last vote of the one that lost its votes first, that one counts as heard for the other.
      await said(
        node,
        /(Too few are left to decide a block|There is no block although).* stop ALL validators/,
      );
    }
    for (const { node } of network.members) await node?.stop();
    const heads = await Promise.all(network.members.map(headOf));
    expect(new Set(heads.map(({ hash }) => hash)).size).toBe(1);
    for (const { key, dataPath } of losers) {
      const others = heads.filter(({ address }) => address !== toHex(key.address));
      const words = others.map(({ address, number, hash }) => `${address}=${number}:${hash}`).join();
      const options = [`--data-path=${dataPath}`, `--genesis-file=${network.genesisFile}`];
      const forgetting = runProgram([...options, "validator", "forget-votes", `--heads=${words}`]);
      expect([await forgetting.exit, forgetting.output()]).toEqual([
        0,
        expect.stringContaining("are forgotten"),
      ]);
    }
    const again = await network.startAll();
    await reach(again, Number(heads[0]?.number) + 3);
    await expectOneChain(again);
  });
});

/** The newest block of a member that is down. */
async function headOf({ key, dataPath }: Member) {
  const info = runProgram([`--data-path=${dataPath}`, "database", "info"]);
  await info.exit;
  const found = /head number: (\d+)/.exec(info.output())?.[1] ?? "";
  const hash = /head hash: (0x\w+)/.exec(info.output())?.[1] ?? "";
  return { address: toHex(key.address), number: found, hash };
}

describe("two nodes with one key", () => {
  itIfThorough(
    "that know different peers: the second is silent and says so, until the first has stopped",
    async () => {
      const { network, last } = await fourValidators();
      await network.stopAll();
      const [one, two, three] = network.members as readonly [Member, Member, Member, Member];
      for (const member of [one, two, three]) knows(member, [one, two, three]);
      knows(last, [one, two]);
      const restarted = await Promise.all(network.members.map((member) => network.start(member)));
      await reach(restarted, (await heightOf(restarted[0] as NodeProcess)) + 3);
      const second = await startCopy(network, last, [three]);
      const line = await said(second, /^TWO NODES RUN WITH THE KEY of the validator .* did not sign/);
      expect(line).toMatchObject({ level: "ERROR", reason: "ownKey" });
      const isSilent = async () => ((await statusOf(second)).mode === "silent" ? true : undefined);
      await until(isSilent, "silence");
      const others = restarted.slice(0, 3);
      await reach([...others, second], (await heightOf(second)) + 5);
      await expectOneChain([...others, second]);
      for (const node of others) expect(node.output()).not.toContain("signed two different blocks");
      await last.node?.stop();
      await takesPart(second);
      await expectOneChain([...others, second]);
    },
  );
});

/** Replaces the static nodes of a member that is down. */
function knows(member: Member, others: readonly Member[]): void {
  const enodes = others.map(
    ({ key, peerPort }) =>
      `enode://${toHex(curve.publicKey(key.privateKey)).slice(2)}@127.0.0.1:${peerPort}?discport=0`,
  );
  writeFileSync(join(member.dataPath, "static-nodes.json"), JSON.stringify(enodes));
}

/** Stops a validator for a moment, and starts it and a copy of it on another port. */
async function startCopy(
  network: ValidatorNetwork,
  first: Member,
  knownPeers?: readonly Member[],
): Promise<NodeProcess> {
  await first.node?.stop();
  const dataPath = join(temporaryFolder(), "copy");
  cpSync(first.dataPath, dataPath, { recursive: true });
  const again = await network.start(first);
  await reach([again], (await heightOf(again)) + 2);
  const copy: Member = { ...first, dataPath, peerPort: await freePort(), node: undefined };
  if (knownPeers !== undefined) knows(copy, knownPeers);
  const started = await network.start(copy);
  onTestFinished(() => started.kill());
  return started;
}
