import { copyFileSync, cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { TEST_HANG_MS } from "../../hang.ts";
import { createRandom, type Random } from "../../simulation/random.ts";
import { hashesOf, heightOf, reach } from "../harness/chainReading.ts";
import { freePort, type NodeProcess, temporaryFolder, until } from "../harness/nodeProcess.ts";
import { type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/**
 * Rounds in which one of four validators is killed and comes back: as it was, without its votes, with older votes, with an older
 * folder, with the folder and its copy exchanged, or beside a second node with its key; or all are killed at once. 20 in the long
 * run; `IBEX_RESTORE_ROUNDS=500 npx vitest run --config test/vitest.config.ts test/cluster/recovery/restoreRounds` is the whole of it.
 */
const ROUNDS = Number(process.env["IBEX_RESTORE_ROUNDS"] ?? 0);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);

const DEEDS = ["kill", "killAll", "loseVotes", "oldVotes", "oldFolder", "swapFolders", "startTwin"] as const;

type Deed = (typeof DEEDS)[number];

/** All that chance decides in a round, drawn before the first one; which of them can be done depends on the network. */
interface Plan {
  readonly deed: Deed;
  readonly victim: number;
  readonly copies: boolean;
  readonly twinFirst: boolean;
}

/** After so many rounds the network must have made a block. */
const PROGRESS_EVERY = 10;
/** For how many rounds a second node runs. */
const TWIN_ROUNDS = 3;
/** All that a copy by hand has; a socket cannot be copied. */
const WHOLE_FOLDER = { recursive: true, filter: (path: string) => !path.endsWith(".sock") } as const;
const VOTES = ["votes.log", "votes.log.mark"];

it.skipIf(ROUNDS === 0)(
  `${ROUNDS} rounds of kill, restore and restart make no second block of any height, and the chain goes on (IBEX_SEED=${SEED})`,
  async () => {
    const random = createRandom(SEED);
    const plans = Array.from({ length: ROUNDS }, () => draw(random));
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 1 });
    onTestFinished(network.stopAll);
    const nodes = await network.startAll();
    await reach(nodes, 2);
    const run = new Run(network);
    onTestFinished(() => run.end());
    for (const [index, plan] of plans.entries()) {
      await run.round(index, plan);
      await run.expectOneChain();
      if (index % PROGRESS_EVERY === PROGRESS_EVERY - 1) await run.expectProgress();
    }
    await run.endTwin();
    await run.expectProgress();
    await run.expectOneChain();
    console.log(`IBEX_SEED=${SEED}: ${run.summary()}`);
    expect(run.height).toBeGreaterThan(ROUNDS / PROGRESS_EVERY);
  },
  TEST_HANG_MS + ROUNDS * 30_000,
);

function draw(random: Random): Plan {
  const deed = DEEDS[random.between(0, DEEDS.length - 1)] ?? "kill";
  return {
    deed: deed === "killAll" && random.chance(0.5) ? "kill" : deed,
    victim: random.between(0, 3),
    copies: random.chance(0.3),
    twinFirst: random.chance(0.5),
  };
}

class Run {
  private readonly network: ValidatorNetwork;
  /** The hash of every block that any node has shown. */
  private readonly agreed = new Map<number, string>();
  private readonly copies = new Map<Member, string>();
  private readonly done = new Map<string, number>();
  private readonly startedMs = Date.now();
  private twin: { readonly member: Member; readonly of: Member; readonly since: number } | undefined;
  private harmed: Member | undefined;
  private silences = 0;
  height = 0;

  constructor(network: ValidatorNetwork) {
    this.network = network;
  }

  /** No more than one validator at a time is in doubt or doubled: more would be more than the network tolerates. */
  async round(index: number, plan: Plan): Promise<void> {
    if (this.twin !== undefined && index - this.twin.since >= TWIN_ROUNDS) await this.endTwin();
    const troubled = this.twin?.of ?? (await this.troubledMember());
    const drawn = this.network.members[plan.victim] as Member;
    const victim = troubled ?? drawn;
    const isHarmless = plan.deed === "kill" || plan.deed === "killAll";
    if (isHarmless) await this.kill(plan.deed === "killAll" ? this.network.members : [drawn]);
    else await this.harm(index, plan, victim);
    this.done.set(plan.deed, (this.done.get(plan.deed) ?? 0) + 1);
  }

  private async kill(members: readonly Member[]): Promise<void> {
    await Promise.all(members.map(({ node }) => node?.kill()));
    await Promise.all(members.map((member) => this.network.start(member)));
  }

  private async harm(index: number, plan: Plan, victim: Member): Promise<void> {
    const { dataPath } = victim;
    this.harmed = victim;
    await victim.node?.kill();
    const copy = this.copies.get(victim);
    const isTwinDue = plan.deed === "startTwin" && this.twin === undefined;
    if (plan.copies || copy === undefined) this.copies.set(victim, this.copyOf(victim));
    if (plan.deed === "loseVotes") for (const name of VOTES) rmSync(join(dataPath, name), { force: true });
    if (copy !== undefined && plan.deed === "oldVotes") restoreVotes(copy, dataPath);
    if (copy !== undefined && plan.deed === "oldFolder") restoreFolder(copy, dataPath);
    if (copy !== undefined && plan.deed === "swapFolders") swapFolders(copy, dataPath);
    if (isTwinDue && plan.twinFirst) await this.startTwin(index, victim);
    await this.network.start(victim);
    if (isTwinDue && !plan.twinFirst) await this.startTwin(index, victim);
  }

  private copyOf({ dataPath }: Member): string {
    const copy = join(temporaryFolder(), "copy");
    cpSync(dataPath, copy, WHOLE_FOLDER);
    return copy;
  }

  private async startTwin(since: number, of: Member): Promise<void> {
    const dataPath = join(temporaryFolder(), "twin");
    cpSync(this.copies.get(of) ?? of.dataPath, dataPath, WHOLE_FOLDER);
    const member: Member = {
      key: of.key,
      nodeKey: of.nodeKey,
      dataPath,
      peerPort: await freePort(),
      node: undefined,
    };
    this.twin = { member, of, since };
    await this.network.start(member);
  }

  async endTwin(): Promise<void> {
    await this.twin?.member.node?.kill();
    if (this.twin !== undefined) rmSync(this.twin.member.dataPath, { recursive: true });
    this.twin = undefined;
  }

  end(): Promise<void> {
    return this.endTwin();
  }

  /** The validator that does not vote, or may not know yet that it must not. */
  private async troubledMember(): Promise<Member | undefined> {
    for (const member of this.network.members) {
      const node = member.node as NodeProcess;
      const { mode } = await node.rpc<{ mode: string }>("ibft_status");
      if (mode === "silent") this.silences++;
      if (mode === "silent" || mode === "bound") return member;
      if (member !== this.harmed) continue;
      if (mode !== "validating" || (await heightOf(node)) < this.height) return member;
      this.harmed = undefined;
    }
    return undefined;
  }

  private get running(): readonly NodeProcess[] {
    const members =
      this.twin === undefined ? this.network.members : [...this.network.members, this.twin.member];
    return members.flatMap(({ node }) => (node === undefined ? [] : [node]));
  }

  async expectOneChain(): Promise<void> {
    for (const node of this.running) {
      const head = await heightOf(node);
      const first = Math.max(1, head - LOOKED_AT);
      for (const [index, hash] of (head === 0 ? [] : await hashesOf(node, first, head)).entries()) {
        const known = this.agreed.get(first + index) ?? hash;
        expect([first + index, hash]).toEqual([first + index, known]);
        this.agreed.set(first + index, known);
        this.height = Math.max(this.height, first + index);
      }
    }
  }

  async expectProgress(): Promise<void> {
    const nodes = this.network.members.map(({ node }) => node as NodeProcess);
    const goal = this.height + 1;
    const isThere = async () =>
      (await Promise.all(nodes.map(heightOf))).some((height) => height >= goal) ? true : undefined;
    await until(isThere, `block ${goal}`).catch(async (error: unknown) => {
      const modes = await Promise.all(nodes.map((node) => node.rpc<object>("ibft_status")));
      throw new Error(`IBEX_SEED=${SEED}: ${String(error)}: ${JSON.stringify(modes)}`);
    });
  }

  summary(): string {
    const deeds = [...this.done].map(([deed, times]) => `${deed} ${times}`).join(", ");
    const seconds = Math.round((Date.now() - this.startedMs) / 1000);
    return `${this.height} blocks in ${seconds} s; silent at ${this.silences} rounds' beginnings; ${deeds}`;
  }
}

/** Blocks of each node that are looked at after a round; more than come in one. */
const LOOKED_AT = 60;

function restoreVotes(copy: string, dataPath: string): void {
  for (const name of VOTES)
    if (existsSync(join(copy, name))) copyFileSync(join(copy, name), join(dataPath, name));
}

function restoreFolder(copy: string, dataPath: string): void {
  rmSync(dataPath, { recursive: true });
  cpSync(copy, dataPath, WHOLE_FOLDER);
}

function swapFolders(copy: string, dataPath: string): void {
  const aside = `${dataPath}-aside`;
  renameSync(dataPath, aside);
  cpSync(copy, dataPath, WHOLE_FOLDER);
  rmSync(copy, { recursive: true });
  renameSync(aside, copy);
}
