import { createHeldWords } from "../../src/consensus/heldWords.ts";
import type { Effect } from "../../src/ibft/effect.ts";
import type { Head, Input } from "../../src/ibft/input.ts";
import { type Rules, type State, UNSTARTED } from "../../src/ibft/state.ts";
import type { Step, Transition } from "../../src/ibft/step.ts";
import type { VoteRecord } from "../../src/ibft/voteRecord.ts";
import { createHolds, type Holds } from "../../src/node/holds.ts";
import type { Agenda } from "./agenda.ts";
import { createVoteDisk } from "./disk.ts";
import type { Random } from "./random.ts";
import type { SealedBlock } from "./toyLedger.ts";
import { describeEffect, describeInput } from "./trace.ts";
import type { Weather } from "./weather.ts";

/** A node as its engine runs it: one input at a time, effects in order, nothing after a vote record before it is durable. */
export interface SimulatedNode {
  readonly index: number;
  readonly rules: Rules;
  readonly isLiar: boolean;
  /** Durable: block n at index n. */
  readonly chain: SealedBlock[];
  /** Undefined while it is down. */
  readonly state: State | undefined;
  /** By its own clock. */
  readonly nowMs: number;
  /** How far that clock is ahead. */
  readonly skewMs: number;
  /** Reasons for which it stands still; forgotten at each boot. */
  readonly holds: Holds;
  /** Messages are dropped where too many inputs wait already. */
  post(input: Input): void;
  /** For this life of the node only: after a crash nobody is at home. */
  plan(delayMs: number, action: () => void): void;
  boot(): void;
  /** Its process ends; nobody starts it again. */
  stop(): void;
  setClock(skewMs: number): void;
}

/** What a saboteur may change: the machine itself, what a node remembers of its votes, when it says them. */
export interface Sabotage {
  readonly machine?: Step;
  /** The record that a node finds when it starts. */
  readonly remember?: (record: VoteRecord | undefined) => VoteRecord | undefined;
  readonly speaksBeforeSync?: boolean;
  readonly passesNothingOn?: boolean;
  /** Ten times what the limits allow. */
  readonly hoards?: boolean;
  /** What it said last, it says to nobody who connects. */
  readonly repeatsNothing?: boolean;
}

export interface NodeParts {
  readonly agenda: Agenda;
  readonly random: Random;
  readonly machine: Step;
  readonly sabotage: Sabotage;
  weather(): Weather;
  /** The head on disk. */
  head(node: SimulatedNode): Head;
  afterStep(node: SimulatedNode, before: State, input: Input, transition: Transition): void;
  /** So many inputs wait. */
  onPosted(waiting: number): void;
  perform(node: SimulatedNode, effect: Exclude<Effect, { kind: "recordVote" }>): void;
  onBoot(node: SimulatedNode): void;
  onCrash(node: SimulatedNode, isPowerCut: boolean): void;
  observe?: (node: SimulatedNode, line: () => string) => void;
}

export function createNode(index: number, rules: Rules, isLiar: boolean, parts: NodeParts): SimulatedNode {
  const { agenda, random, machine, sabotage, weather, observe } = parts;
  const disk = createVoteDisk(random);
  let state: State | undefined;
  let life = 0;
  let queue: Input[] = [];
  let isSyncing = false;
  let skewMs = 0;
  let holds = newHolds();
  let held = createHeldWords(rules);

  function newHolds(): Holds {
    return createHolds({
      pause: () => node.post({ kind: "paused" }),
      resume: () => node.post({ kind: "resumed" }),
    });
  }

  const node: SimulatedNode = {
    index,
    rules,
    isLiar,
    chain: [],
    get state() {
      return state;
    },
    get nowMs() {
      return agenda.nowMs + skewMs;
    },
    get skewMs() {
      return skewMs;
    },
    get holds() {
      return holds;
    },
    post(input) {
      if (state === undefined) return;
      if (input.kind === "message" && queue.length >= rules.schedule.messageQueueLimit) return;
      queue.push(input);
      parts.onPosted(queue.length);
      read();
    },
    plan(delayMs, action) {
      const plannedIn = life;
      agenda.plan(agenda.nowMs + delayMs, () => {
        if (life === plannedIn) action();
      });
    },
    boot() {
      if (state !== undefined) return;
      life += 1;
      holds = newHolds();
      held = createHeldWords(rules);
      skewMs = (2 * random.next() - 1) * weather().skewMs;
      state = UNSTARTED;
      const found = disk.read();
      const record = sabotage.remember === undefined ? found : sabotage.remember(found);
      node.post({ kind: "started", head: parts.head(node), ...(record !== undefined && { record }) });
      parts.onBoot(node);
    },
    stop() {
      if (state !== undefined) end(false);
    },
    setClock(newSkewMs) {
      skewMs = newSkewMs;
    },
  };

  function read(): void {
    while (state !== undefined && !isSyncing) {
      const input = queue.shift();
      if (input === undefined) return;
      take(state, input);
    }
  }

  function take(before: State, input: Input): void {
    observe?.(node, () => describeInput(input));
    const transition = machine(rules, before, node.nowMs, input);
    state = transition.state;
    parts.afterStep(node, before, input, transition);
    for (const message of held.stepped(before, state, input).toReversed())
      queue.unshift({ kind: "message", message });
    perform(transition.effects);
  }

  function perform([effect, ...later]: readonly Effect[]): void {
    if (effect === undefined) return;
    if (random.chance(weather().crash)) {
      crash();
      return;
    }
    observe?.(node, () => `    ${describeEffect(effect)}`);
    if (effect.kind !== "recordVote") {
      parts.perform(node, effect);
      perform(later);
      return;
    }
    disk.write(effect.record);
    const syncMs = weather().syncMs * random.next();
    if (sabotage.speaksBeforeSync === true) {
      node.plan(syncMs, disk.sync);
      perform(later);
      return;
    }
    isSyncing = true;
    if (random.chance(weather().crash)) node.plan(syncMs * random.next(), crash);
    node.plan(syncMs, () => {
      disk.sync();
      isSyncing = false;
      perform(later);
      read();
    });
  }

  function crash(): void {
    end(random.chance(weather().powerCut));
    node.plan(weather().downMs * (0.5 + random.next() / 2), () => node.boot());
  }

  function end(isPowerCut: boolean): void {
    observe?.(node, () => (isPowerCut ? "POWER CUT" : "CRASH"));
    if (isPowerCut) disk.cutPower();
    else disk.crash();
    life += 1;
    state = undefined;
    queue = [];
    isSyncing = false;
    parts.onCrash(node, isPowerCut);
  }

  return node;
}
