import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { hashesOf, heightOf, reach } from "../harness/chainReading.ts";
import {
  freePort,
  type NodeProcess,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { shiftedClock } from "../harness/shiftedClock.ts";
import { type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/**
 * Makes the mistakes of docs/operating/mistakes.md on purpose, one after the other, against a running network, and waits for
 * each line that the page quotes. After each of them the mistake is mended as the page says, all validators vote again, and
 * there is one chain. IBEX_MISTAKES names the sizes of the networks, such as 4,7.
 */
const SIZES = (process.env["IBEX_MISTAKES"] ?? "4").split(",").map(Number);

const PAGE = resolve(import.meta.dirname, "..", "..", "..", "docs", "operating", "mistakes.md");

/** A line that the page quotes: who says it, and the text with "…" for what differs each time. */
interface Quote {
  readonly speaker: string;
  readonly text: string;
  readonly pattern: RegExp;
}

/** The quoted lines of the page by the heading that they stand under. */
function quotesOf(page: string): ReadonlyMap<string, readonly Quote[]> {
  const [, ...sections] = page.split(/^## /m);
  return new Map(
    sections.map((section) => {
      const heading = section.slice(0, section.indexOf("\n")).trim();
      const blocks = [...section.matchAll(/^```text\n([\s\S]*?)^```/gm)].map(([, block]) => block ?? "");
      const quotes = blocks.join("").split("\n").filter(Boolean).map(quoteOf);
      return [heading, quotes] as const;
    }),
  );
}

function quoteOf(line: string): Quote {
  const at = line.indexOf("| ");
  if (at < 0) throw new Error(`this line names no speaker: ${line}`);
  const text = line.slice(at + 2).trim();
  const parts = text.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return { speaker: line.slice(0, at).trim(), text, pattern: new RegExp(`^${parts.join(".*")}$`) };
}

/** Who may say something: the nodes or commands of that name, all of which must say it. */
type Speakers = Map<string, readonly (() => readonly string[])[]>;

const ALL_QUOTES = quotesOf(readFileSync(PAGE, "utf8"));

/** The lines of a program: `LEVEL message` for those of its log, and the others as they are. */
function linesOf(output: string): readonly string[] {
  return output.split("\n").map((line) => {
    if (!(line.startsWith("{") && line.endsWith("}"))) return line.trim();
    const { level, message } = JSON.parse(line) as { level?: string; message?: string };
    return `${level} ${message}`;
  });
}

/** A network in which one mistake after the other is made. */
class Stage {
  readonly network: ValidatorNetwork;
  /** The validator that the mistakes are made with, and all the others. */
  readonly victim: Member;
  readonly others: readonly Member[];
  readonly begunAtMs = Date.now();
  readonly #speakers: Speakers = new Map();

  constructor(network: ValidatorNetwork) {
    const [victim, ...others] = [...network.members].reverse();
    if (victim === undefined) throw new Error("a network has members");
    this.network = network;
    this.victim = victim;
    this.others = others;
    this.hearOthers();
  }

  /** Takes what the other validators say from now on for "the others". */
  hearOthers(members: readonly Member[] = this.others): void {
    this.#speakers.clear();
    this.hear("the others", ...members.map(({ node }) => node as NodeProcess));
  }

  /** Takes what these programs print from now on for what `speaker` says. */
  hear(speaker: string, ...programs: readonly { output(): string }[]): void {
    const lines = programs.map(({ output }) => {
      const from = output().length;
      return () => linesOf(output().slice(from));
    });
    this.#speakers.set(speaker, lines);
  }

  /** Like `hear`, and from the start of the programs. */
  hearAll(speaker: string, ...programs: readonly { output(): string }[]): void {
    this.#speakers.set(
      speaker,
      programs.map(
        ({ output }) =>
          () =>
            linesOf(output()),
      ),
    );
  }

  /** Starts the victim, and takes what it says for "the node". */
  async startVictim(runtimeOptions: readonly string[] = []): Promise<NodeProcess> {
    const node = await this.network.start(this.victim, runtimeOptions);
    this.hearAll("the node", node);
    return node;
  }

  /** Runs a command, or a start that is expected to end, in a folder; returns its exit code. */
  run(speaker: string, dataPath: string, ...words: readonly string[]): Promise<number | null> {
    return this.runWith(this.network.genesisFile, speaker, dataPath, ...words);
  }

  /** The same with another genesis file. */
  async runWith(
    genesisFile: string,
    speaker: string,
    dataPath: string,
    ...words: readonly string[]
  ): Promise<number | null> {
    const program = runProgram([
      `--data-path=${dataPath}`,
      `--genesis-file=${genesisFile}`,
      ...ON_LOOPBACK,
      ...words,
    ]);
    const exitCode = await program.exit;
    this.hearAll(speaker, program);
    return exitCode;
  }

  /** Waits until all quotes are said by all that they are about. */
  async expectQuotes(quotes: readonly Quote[]): Promise<void> {
    const missing = () =>
      quotes.filter(({ speaker, pattern }) => {
        const lines = this.#speakers.get(speaker);
        return lines === undefined || !lines.every((read) => read().some((line) => pattern.test(line)));
      });
    await until(async () => (missing().length === 0 ? true : undefined), "all quotes").catch(() => {
      const names = missing().map(({ speaker, text }) => `${speaker}: ${text}`);
      throw new Error(`not said:\n${names.join("\n")}\n\nsaid:\n${this.said()}`);
    });
    if (process.env["IBEX_MISTAKES_SHOW"] !== undefined) console.log(this.said());
  }

  /** Everything that is no everyday line, each once. */
  said(): string {
    const all = [...this.#speakers].flatMap(([speaker, programs]) =>
      programs.flatMap((read, index) => [
        `--- ${speaker} ${index}`,
        ...new Set(read().filter((line) => !/^$|^INFO (Imported|Produced) #|^DEBUG|^TRACE/.test(line))),
      ]),
    );
    return all.join("\n");
  }

  /** Waits until every member runs and votes, and expects one chain. */
  async expectHealth(): Promise<void> {
    const nodes = await Promise.all(
      this.network.members.map(async (member) =>
        member.node?.child.exitCode === null && member.node.child.signalCode === null
          ? member.node
          : this.network.start(member),
      ),
    );
    for (const node of nodes) await votes(node);
    const heights = await Promise.all(nodes.map(heightOf));
    await reach(nodes, Math.max(...heights) + 2);
    const height = Math.min(...(await Promise.all(nodes.map(heightOf))));
    const [first, ...rest] = await Promise.all(nodes.map((node) => hashesOf(node, 1, height)));
    for (const other of rest) expect(other).toEqual(first);
  }
}

async function modeOf(node: NodeProcess): Promise<string> {
  return (await node.rpc<{ mode: string }>("ibft_status")).mode;
}

function votes(node: NodeProcess): Promise<true> {
  return until(async () => ((await modeOf(node)) === "validating" ? true : undefined), "its vote");
}

async function blocksMore(nodes: readonly NodeProcess[], count: number): Promise<void> {
  const height = Math.max(...(await Promise.all(nodes.map(heightOf))));
  await reach(nodes, height + count);
}

/** Removes the record of votes from a folder. */
function loseVotes({ dataPath }: Member): void {
  for (const name of ["votes.log", "votes.log.mark"]) rmSync(join(dataPath, name));
}

const ON_LOOPBACK = ["--p2p-host=127.0.0.1", "--p2p-interface=127.0.0.1", "--discovery-enabled=false"];

/** The least number of validators whose votes decide a block (ibft2.md#quorum). */
const quorumOf = (count: number): number => Math.ceil((2 * count) / 3);

/** How each mistake is made; `said` waits for what the page quotes. What follows it mends the mistake. */
const MISTAKES: Readonly<Record<string, (stage: Stage, said: () => Promise<void>) => Promise<void>>> = {
  async "A copy of a validator's folder is started"(stage, said) {
    const { network, victim } = stage;
    await victim.node?.stop();
    const dataPath = join(temporaryFolder(), "copy");
    cpSync(victim.dataPath, dataPath, { recursive: true });
    const first = await stage.startVictim();
    await votes(first);
    const copy: Member = { ...victim, dataPath, peerPort: await freePort(), node: undefined };
    const second = await network.start(copy);
    onTestFinished(() => second.kill());
    stage.hearAll("the copy", second);
    await said();
    expect(await modeOf(first)).toBe("validating");
    expect(await modeOf(second)).not.toBe("validating");
    await second.stop();
  },

  async "The record of votes is deleted"(stage, said) {
    await stage.victim.node?.stop();
    loseVotes(stage.victim);
    await stage.startVictim();
    await said();
  },

  async "Only the key is brought to a new machine"(stage, said) {
    const { victim } = stage;
    // In its first 30 s a network may be one that has begun with this node (ibft2.md#lost-votes).
    await until(async () => (Date.now() > stage.begunAtMs + 45_000 ? true : undefined), "its age");
    await victim.node?.stop();
    for (const name of readdirSync(victim.dataPath))
      if (name !== "key" && name !== "static-nodes.json")
        rmSync(join(victim.dataPath, name), { recursive: true });
    await stage.startVictim();
    await said();
  },

  async "An old copy of the whole folder is put back"(stage, said) {
    const { victim } = stage;
    await victim.node?.stop();
    const copy = temporaryFolder();
    cpSync(victim.dataPath, copy, { recursive: true });
    const later = await stage.startVictim();
    await votes(later);
    await blocksMore([later], 2 * stage.network.members.length);
    await later.stop();
    rmSync(victim.dataPath, { recursive: true });
    cpSync(copy, victim.dataPath, { recursive: true });
    await stage.startVictim();
    await said();
  },

  async "Too many records of votes are lost at once"(stage, said) {
    const { network } = stage;
    const { members } = network;
    const losers = members.slice(quorumOf(members.length) - 1);
    await Promise.all(losers.map(({ node }) => node?.kill()));
    for (const loser of losers) loseVotes(loser);
    stage.hearOthers(members.filter((member) => !losers.includes(member)));
    const silent = await Promise.all(losers.map((loser) => network.start(loser)));
    stage.hearAll("each silent one", ...silent);
    await said();
    for (const { node } of members) await node?.stop();
    const heads = await Promise.all(members.map(headOf));
    expect(new Set(heads.map(({ hash }) => hash)).size).toBe(1);
    for (const loser of losers) {
      const rest = heads.filter(({ address }) => address !== toHex(loser.key.address));
      const words = rest.map(({ address, number, hash }) => `${address}=${number}:${hash}`).join();
      expect(
        await stage.run("a command", loser.dataPath, "validator", "forget-votes", `--heads=${words}`),
      ).toBe(0);
    }
  },

  async "The key file is deleted"(stage, said) {
    const { dataPath, node, key } = stage.victim;
    await node?.stop();
    rmSync(join(dataPath, "key"));
    expect(await stage.run("the node", dataPath)).toBe(2);
    await said();
    writeFileSync(join(dataPath, "key"), toHex(key.privateKey), { mode: 0o600 });
  },

  async "The key file is replaced by another one"(stage, said) {
    const { dataPath, node, key } = stage.victim;
    await node?.stop();
    writeFileSync(join(dataPath, "key"), toHex(accountFromSeed(777).privateKey));
    const other = await stage.startVictim();
    const follows = async () => ((await modeOf(other)) === "following" ? true : undefined);
    await until(follows, "its start");
    stage.hearAll("ibex status", await finished(dataPath, "status"));
    await said();
    await other.stop();
    writeFileSync(join(dataPath, "key"), toHex(key.privateKey));
  },

  async "A genesis file is edited"(stage, said) {
    const { dataPath, node } = stage.victim;
    await node?.stop();
    const edited = join(temporaryFolder(), "genesis.json");
    const genesis = readFileSync(stage.network.genesisFile, "utf8");
    writeFileSync(edited, genesis.replace('"chainId":7999', '"chainId":7998'));
    expect(await stage.runWith(edited, "the node", dataPath)).toBe(2);
    await said();
  },

  async "A new node gets the genesis file of another network"(stage, said) {
    const { network, victim } = stage;
    const edited = join(temporaryFolder(), "genesis.json");
    writeFileSync(
      edited,
      readFileSync(network.genesisFile, "utf8").replace('"difficulty":"0x1"', '"difficulty":"0x2"'),
    );
    const dataPath = join(temporaryFolder(), "new");
    mkdirSync(dataPath);
    cpSync(join(victim.dataPath, "static-nodes.json"), join(dataPath, "static-nodes.json"));
    const started = await startNodeProcess({
      dataPath,
      options: [
        `--genesis-file=${edited}`,
        `--p2p-port=${await freePort()}`,
        "--rpc-http-enabled",
        ...ON_LOOPBACK,
      ],
    });
    onTestFinished(() => started.kill());
    stage.hearAll("the new node", started);
    await said();
    await started.stop();
  },

  async "A clock is wrong"(stage, said) {
    await stage.victim.node?.stop();
    const shifted = await stage.startVictim(shiftedClock(3_000));
    await said();
    await shifted.stop();
  },

  async "A validator is left paused"(stage, said) {
    const node = stage.victim.node as NodeProcess;
    stage.hear("the node", node);
    await node.rpc("miner_stop");
    await until(async () => ((await modeOf(node)) === "validating" ? undefined : true), "the pause");
    stage.hearAll("ibex status", await finished(stage.victim.dataPath, "status"));
    await said();
    await node.rpc("miner_start");
  },

  async "A validator knows no other node"(stage, said) {
    const { dataPath, node } = stage.victim;
    await node?.stop();
    // The others know it by its address, which is another one after the move.
    const list = join(dataPath, "static-nodes.json");
    const known = readFileSync(list, "utf8");
    writeFileSync(list, "[]");
    const moved: Member = { ...stage.victim, peerPort: await freePort(), node: undefined };
    const alone = await stage.network.start(moved);
    onTestFinished(() => alone.kill());
    stage.hearAll("the node", alone);
    await said();
    await alone.stop();
    writeFileSync(list, known);
  },

  async "Too many validators are stopped at once"(stage, said) {
    const { members } = stage.network;
    const stopped = members.slice(quorumOf(members.length) - 1);
    for (const { node } of stopped) await node?.stop();
    stage.hearOthers(members.filter((member) => !stopped.includes(member)));
    await said();
  },

  async "A second node is started on the same folder"(stage, said) {
    expect(await stage.run("the second", stage.victim.dataPath, `--p2p-port=${await freePort()}`)).toBe(2);
    await said();
    expect(await modeOf(stage.victim.node as NodeProcess)).toBe("validating");
  },

  async "A validator that was handed over is started again"(stage, said) {
    const { dataPath, node } = stage.victim;
    await node?.stop();
    const file = join(temporaryFolder(), "validator.hand-over");
    expect(await stage.run("a command", dataPath, "validator", "hand-over", `--to=${file}`)).toBe(0);
    expect(await stage.run("the old node", dataPath)).toBe(2);
    await said();
    const undo = ["validator", "hand-over", "--undo", "--never-taken"];
    expect(await stage.run("a command", dataPath, ...undo)).toBe(0);
  },
};

/** Runs a command to its end. */
async function finished(dataPath: string, ...words: readonly string[]): Promise<{ output(): string }> {
  const program = runProgram([`--data-path=${dataPath}`, ...words]);
  await program.exit;
  return program;
}

/** The newest block of a member that is down. */
async function headOf({ key, dataPath }: Member) {
  const info = runProgram([`--data-path=${dataPath}`, "database", "info"]);
  await info.exit;
  const number = /head number: (\d+)/.exec(info.output())?.[1] ?? "";
  const hash = /head hash: (0x\w+)/.exec(info.output())?.[1] ?? "";
  return { address: toHex(key.address), number, hash };
}

it("the page of mistakes has each that is made here, and quotes what is said", () => {
  expect([...ALL_QUOTES.keys()]).toEqual(Object.keys(MISTAKES));
  for (const quotes of ALL_QUOTES.values()) expect(quotes.length).toBeGreaterThan(0);
});

describe.each(IS_THOROUGH ? SIZES : [])("%d validators", (count) => {
  it("bear each mistake and say what the page quotes", async () => {
    const network = await prepareNetwork({ validators: count });
    onTestFinished(network.stopAll);
    await network.startAll();
    const stage = new Stage(network);
    await stage.expectHealth();
    const only = process.env["IBEX_MISTAKES_ONLY"];
    for (const [name, make] of Object.entries(MISTAKES)) {
      if (only !== undefined && !new RegExp(only).test(name)) continue;
      if (process.env["IBEX_MISTAKES_SHOW"] !== undefined) console.log(`=== ${name}`);
      stage.hearOthers();
      await make(stage, () => stage.expectQuotes(ALL_QUOTES.get(name) ?? []));
      await stage.expectHealth();
    }
  }, 900_000);
});
