import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { hashesOf, heightOf, reach } from "../harness/chainReading.ts";
import { createLinks, type Links } from "../harness/links.ts";
import { freePort, logOf, type NodeProcess, pause, temporaryFolder, until } from "../harness/nodeProcess.ts";
import { CHAIN_ID, type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/**
 * Blocks with which each node must have said that two run with one key. Without other work on the machine it takes two to four;
 * test/simulation/twins.test.ts holds the ten seconds by a hand clock.
 */
const ALL_SAY_BLOCKS = 40;

const SAYS = /two nodes run with the key of/i;

/** Names of nodes: the first with the key is "first", its copy "second", the others "v1" and so on, and a follower "f". */
type Name = string;

/** Whom the second node knows, of the others; and whom the first does not. */
interface Topology {
  readonly ofSecond: (validators: readonly Name[]) => readonly Name[];
  readonly hidden: (validators: readonly Name[]) => readonly Name[];
}

const TOPOLOGIES: Readonly<Record<string, Topology>> = {
  "the second knows all that the first knows": { ofSecond: (all) => all, hidden: () => [] },
  "the second knows a follower alone": { ofSecond: () => ["f"], hidden: () => ["f"] },
  "the two have no peer in common": { ofSecond: half, hidden: half },
};

function half(validators: readonly Name[]): readonly Name[] {
  return validators.slice(Math.ceil(validators.length / 2));
}

describe("two copies of one key under load", () => {
  const cases = [
    [4, "the second knows all that the first knows"],
    [4, "the second knows a follower alone"],
    [7, "the two have no peer in common"],
  ] as const;
  // test/simulation/twins.test.ts shows it daily.
  it.skipIf(!IS_THOROUGH).each(cases)(
    "all of %d validators say it soon, no height has two blocks, and the first goes on: %s",
    async (count, name) => {
      const run = await begin(count, TOPOLOGIES[name] as Topology);
      const { nodes, others } = run;
      const second = await run.startSecond();
      const beganAt = await heightOf(nodes.get("first") as NodeProcess);
      const first = nodes.get("first") as NodeProcess;
      const all = [...nodes.values()];
      for (const node of all) await says(node);
      for (const node of all) expect(heightWhenSaid(node)).toBeLessThanOrEqual(beganAt + ALL_SAY_BLOCKS);
      for (const node of all) expect(risksOf(node)).toEqual([]);
      for (const node of others) expect(await sharedKeyReports(node)).toBeGreaterThan(0);
      expect(await sharedKeyReports(first)).toBeGreaterThan(0);
      // The one that ran goes on, and the one that came later never votes.
      await reach([first, ...others], (await heightOf(first)) + 3);
      expect(await modeOf(first)).toBe("validating");
      expect(await modeOf(second)).not.toBe("validating");
      await partAndMend(run);
      await expectOneChain(all);
      for (const node of all) expect(node.output()).not.toContain("signed two different blocks");
    },
  );
});

interface Run {
  readonly network: ValidatorNetwork;
  readonly links: Links;
  readonly nodes: Map<Name, NodeProcess>;
  readonly others: readonly NodeProcess[];
  readonly validators: readonly Name[];
  /** Whether the second node has a validator among its peers. */
  readonly reachesValidators: boolean;
  startSecond(): Promise<NodeProcess>;
}

/** A network that makes blocks under load; the second node is a copy of the first one's folder as it was a moment before. */
async function begin(count: number, topology: Topology): Promise<Run> {
  const options = ["--metrics-enabled", "--metrics-port=0"];
  const network = await prepareNetwork({ validators: count, followers: 1, options });
  const links = createLinks();
  onTestFinished(async () => {
    await network.stopAll();
    links.close();
  });
  const [first, ...rest] = network.members as [Member, ...Member[]];
  const names = rest.map((_, index) => (index === rest.length - 1 ? "f" : `v${index + 1}`));
  const validators = names.slice(0, -1);
  const members = new Map<Name, Member>([
    ["first", first],
    ...rest.map((one, i) => [names[i] ?? "", one] as const),
  ]);
  for (const [from, member] of members) {
    const hidden = from === "first" ? topology.hidden(validators) : [];
    const known = [...members].filter(
      ([to]) => to > from && !hidden.includes(to) && !isHidden(from, to, topology, validators),
    );
    await knows(links, from, member, known);
  }
  const started = await network.startAll();
  const nodes = new Map([...members.keys()].map((name, index) => [name, started[index] as NodeProcess]));
  await reach(started, 3);
  const load = sendTransfers(started);
  onTestFinished(load.end);
  return {
    ...{ network, links, nodes, validators },
    reachesValidators: topology.ofSecond(validators).some((name) => validators.includes(name)),
    others: [...nodes].filter(([name]) => name !== "first").map(([, node]) => node),
    async startSecond() {
      const dataPath = join(temporaryFolder(), "copy");
      await first.node?.stop();
      cpSync(first.dataPath, dataPath, { recursive: true });
      const again = await network.start(first);
      nodes.set("first", again);
      await until(async () => ((await modeOf(again)) === "validating" ? true : undefined), "a vote");
      await reach([again], (await heightOf(again)) + 2);
      const copy: Member = {
        key: first.key,
        nodeKey: first.nodeKey,
        dataPath,
        peerPort: await freePort(),
        node: undefined,
      };
      const known = topology.ofSecond(validators).map((to) => [to, members.get(to) as Member] as const);
      await knows(links, "second", copy, known);
      const second = await network.start(copy);
      onTestFinished(() => second.kill());
      nodes.set("second", second);
      return second;
    },
  };
}

function isHidden(from: Name, to: Name, { hidden }: Topology, validators: readonly Name[]): boolean {
  return to === "first" && hidden(validators).includes(from);
}

/** Replaces the static nodes of a member that is down: it calls each of them over a link of its own. */
async function knows(
  links: Links,
  from: Name,
  member: Member,
  others: readonly (readonly [Name, Member])[],
): Promise<void> {
  const enodes: string[] = [];
  for (const [to, { key, peerPort }] of others) {
    const port = await links.portFor(from, to, peerPort);
    const id = toHex(curve.publicKey(key.privateKey)).slice(2);
    enodes.push(`enode://${id}@127.0.0.1:${port}?discport=0`);
  }
  writeFileSync(join(member.dataPath, "static-nodes.json"), JSON.stringify(enodes));
}

/** Parts the network so that the first one's side is a quorum, then so that the second one's may be, and mends it. */
async function partAndMend({ links, nodes, validators, others, reachesValidators }: Run): Promise<void> {
  const [few, most] = [Math.floor(validators.length / 3), validators.length];
  links.cut(["second", ...validators.slice(most - few)], ["first", "f", ...validators.slice(0, most - few)]);
  const withFirst = ["first", ...validators.slice(0, most - few)].map(
    (name) => nodes.get(name) as NodeProcess,
  );
  await reach(withFirst, (await heightOf(withFirst[0] as NodeProcess)) + 4);
  links.heal();
  await reach(others, await heightOf(withFirst[0] as NodeProcess));
  links.cut(["first", ...validators.slice(0, few)], ["second", "f", ...validators.slice(few)]);
  const withSecond = validators.slice(few).map((name) => nodes.get(name) as NodeProcess);
  const goal = (await heightOf(withSecond[0] as NodeProcess)) + 2;
  // Where it speaks to validators, the second takes over as soon as its key has been silent for a while.
  const partedMs = reachesValidators ? PARTED_MS : PARTED_WITHOUT_MS;
  for (const endMs = Date.now() + partedMs; Date.now() < endMs; await pause(100)) {
    if ((await Promise.all(withSecond.map(heightOf))).every((height) => height >= goal)) break;
  }
  links.heal();
  await reach(others, goal + 2);
}

const PARTED_MS = 25_000;
/** Where it has nobody to take over with. */
const PARTED_WITHOUT_MS = 10_000;

async function modeOf(node: NodeProcess): Promise<string> {
  return (await node.rpc<{ mode: string }>("ibft_status")).mode;
}

/** Waits until the node has said that two run with one key. */
async function says(node: NodeProcess): Promise<void> {
  const said = async () => logOf(node).find(({ message }) => SAYS.test(message));
  await until(said, `words about two nodes with one key from ${node.dataPath}`);
}

/** The newest block of the node when it first said so, by the order in its log. */
function heightWhenSaid(node: NodeProcess): number {
  const messages = logOf(node).map(({ message }) => message);
  const before = messages.slice(
    0,
    messages.findIndex((message) => SAYS.test(message)),
  );
  return Math.max(
    0,
    ...before.map((message) => Number(/^(?:Imported|Produced) #(\d+)/.exec(message)?.[1] ?? 0)),
  );
}

/** The lines that say it without the risk, or without what to do. */
function risksOf(node: NodeProcess): readonly string[] {
  const lines = logOf(node).filter(({ message }) => SAYS.test(message));
  return lines
    .map(({ message }) => message)
    .filter((message) => !/(fork|split) the chain/.test(message) || !/stop(ped)?\b/i.test(message));
}

async function sharedKeyReports(node: NodeProcess): Promise<number> {
  const { bft } = await node.rpc<{ bft: Record<string, unknown> }>("debug_metrics");
  return Number(bft["shared_key_reports_total"] ?? bft["shared_key_reports"] ?? Number.NaN);
}

/** Every chain is the beginning of the longest one. */
async function expectOneChain(nodes: readonly NodeProcess[]): Promise<void> {
  const chains = await Promise.all(nodes.map(async (node) => hashesOf(node, 1, await heightOf(node))));
  const longest = chains.reduce((one, other) => (other.length > one.length ? other : one));
  for (const chain of chains) expect(chain).toEqual(longest.slice(0, chain.length));
}

interface Load {
  end(): void;
}

/** Sends transfers to all nodes until it is ended. */
function sendTransfers(nodes: readonly NodeProcess[]): Load {
  let nonce = 0n;
  const timer = setInterval(() => {
    for (let count = 0; count < TRANSFERS_AT_ONCE; count++) {
      const { raw } = aTransaction({
        chainId: CHAIN_ID,
        nonce: nonce++,
        to: account(1).address,
        gasPrice: 0n,
      });
      for (const node of nodes) node.rpc("eth_sendRawTransaction", [toHex(raw)]).catch(() => undefined);
    }
  }, TRANSFERS_EVERY_MS);
  return { end: () => clearInterval(timer) };
}

const TRANSFERS_AT_ONCE = 2;
const TRANSFERS_EVERY_MS = 100;
