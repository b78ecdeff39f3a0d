import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import {
  hasPrometheus,
  type PrometheusProcess,
  startPrometheus,
} from "../../prometheus/prometheusProcess.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { reach } from "../harness/chainReading.ts";
import { createLinks, type Links } from "../harness/links.ts";
import { MachineLoad } from "../harness/machineLoad.ts";
import { freePort, type NodeProcess, pause, startNodeProcess } from "../harness/nodeProcess.ts";
import { shiftedClock } from "../harness/shiftedClock.ts";
import { type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/**
 * Faults in a network of four validators, before a real Prometheus with the rules of config/alerts.yml, whose durations are
 * divided by SPEED: which alerts come, that they go once the fault is mended, and that no other one comes.
 */
const SPEED = 20;
/** What tells the truth about a machine that has no time for a node: of durations, which are shorter here, and of scrapes that failed. */
const OF_BUSY_MACHINES =
  /^Ibex(BlocksLate|MainThreadHeld|RoundsRise|RoundsFail|NodeDown|NodeBehind|ChainStands|ValidatorMissesTurns)\b/;
const NAMES = ["v1", "v2", "v3", "v4"] as const;
type Name = (typeof NAMES)[number];
/** The validator whose disk is in memory. It is filled by becoming smaller, so that it takes no memory. */
const ON_SMALL_DISK = "v2";
const DISK_MB = 7_000;
/** Blocks are made again when a quarter more than this is free. */
const RESERVE_MB = 5_200;
/** Also less than IbexDiskLow asks for. */
const FULL_DISK_MB = 5_000;

if (IS_THOROUGH && !hasPrometheus)
  console.warn("SKIPPED: test/cluster/operators/alerts, for Prometheus (Debian: prometheus) is not there");

describe.skipIf(!IS_THOROUGH || !hasPrometheus)("with the alerts of Prometheus", () => {
  let network: ValidatorNetwork;
  let links: Links;
  let prometheus: PrometheusProcess;
  let disk: string;
  let hasDisk = false;
  const metricsPorts: Record<string, number> = {};

  beforeAll(async () => {
    network = await prepareNetwork({ validators: NAMES.length, followers: 1, requestTimeoutSeconds: 2 });
    links = createLinks();
    disk = memberOf("v2").dataPath;
    hasDisk = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", disk]).status === 0;
    for (const name of NAMES) {
      metricsPorts[name] = await freePort();
      await linkUp(name);
    }
    await Promise.all(NAMES.map((name) => start(name)));
    await reach(nodesOf(network), 2);
    prometheus = await startPrometheus({ ports: metricsPorts, speed: SPEED });
  });

  afterAll(async () => {
    await prometheus?.stop();
    await network?.stopAll();
    links?.close();
    if (hasDisk) spawnSync("umount", [disk]);
  });

  function memberOf(name: Name): Member {
    const member = network.members[NAMES.indexOf(name)];
    if (member === undefined) throw new Error(`there is no ${name}`);
    return member;
  }

  /** Key and static nodes anew, because the small disk hides what was there; each pair has one link, which can be cut. */
  async function linkUp(name: Name): Promise<void> {
    const { dataPath, nodeKey } = memberOf(name);
    writeFileSync(join(dataPath, "key"), toHex(nodeKey.privateKey), { mode: 0o600 });
    const enodes: string[] = [];
    for (const other of NAMES.filter((one) => one > name)) {
      const { nodeKey: itsKey, peerPort } = memberOf(other);
      const port = await links.portFor(name, other, peerPort);
      const id = toHex(curve.publicKey(itsKey.privateKey)).slice(2);
      enodes.push(`enode://${id}@127.0.0.1:${port}?discport=0`);
    }
    writeFileSync(join(dataPath, "static-nodes.json"), JSON.stringify(enodes));
  }

  function start(name: Name, runtimeOptions: readonly string[] = []): Promise<NodeProcess> {
    return network.start(memberOf(name), runtimeOptions, [
      "--metrics-enabled",
      `--metrics-port=${metricsPorts[name]}`,
      ...(name === ON_SMALL_DISK && hasDisk ? [`--min-free-disk-mb=${RESERVE_MB}`] : []),
    ]);
  }

  function resizeDisk(megabytes: number): void {
    spawnSync("mount", ["-o", `remount,size=${megabytes}m`, disk]);
  }

  function missed(name: Name): string {
    return `IbexValidatorMissesTurns ${toHex(memberOf(name).key.address)}`;
  }

  /** Waits for all of `expected`, mends the fault, waits until nothing fires or is about to, and says that nothing else fired but what may. */
  async function fires(
    expected: readonly string[],
    mend: () => unknown,
    mayFire: readonly string[] = [],
  ): Promise<void> {
    const startedAtMs = Date.now();
    const load = new MachineLoad();
    await expect.poll(() => expected.filter((one) => !prometheus.fired.has(one))).toEqual([]);
    const firedAtMs = Date.now();
    await mend();
    await expect.poll(() => [...prometheus.active()]).toEqual([]);
    const [took, lasted] = [firedAtMs - startedAtMs, Date.now() - firedAtMs].map((ms) =>
      Math.round(ms / 1000),
    );
    console.info(
      `${[...prometheus.fired].join(", ")}: all fire after ${took} s, and end ${lasted} s after the cure`,
    );
    const others = [...prometheus.fired].filter((one) => ![...expected, ...mayFire].includes(one));
    expect(load.isBusy ? others.filter((one) => !OF_BUSY_MACHINES.test(one)) : others).toEqual([]);
  }

  it("a healthy network that a follower joins gives no alarm, nor does a chain of one validator", async () => {
    const [joining, alone] = [await freePort(), await freePort()];
    const watching = await Promise.all([
      startPrometheus({ ports: { ...metricsPorts, f1: joining }, speed: SPEED }),
      startPrometheus({ ports: { alone }, speed: SPEED }),
    ]);
    onTestFinished(async () => {
      await Promise.all(watching.map((one) => one.stop()));
    });
    const follower = network.members[NAMES.length];
    if (follower === undefined) throw new Error("there is one");
    const started = await Promise.all([
      network.start(follower, [], ["--metrics-enabled", `--metrics-port=${joining}`]),
      startNodeProcess({ options: ["--metrics-enabled", `--metrics-port=${alone}`] }),
    ]);
    onTestFinished(async () => {
      await Promise.all(started.map((one) => one.kill()));
    });
    // Before it ran, a node is down; from here on it is young.
    const all = [prometheus, ...watching];
    for (const one of all) one.forget();
    const load = new MachineLoad();
    await pause(30_000);
    const fired = all.flatMap((one) => [...one.fired]);
    expect(load.isBusy ? fired.filter((one) => !OF_BUSY_MACHINES.test(one)) : fired).toEqual([]);
  });

  it("a validator is killed", async () => {
    prometheus.forget();
    await memberOf("v1").node?.kill();
    await fires(["IbexNodeDown v1", missed("v1")], async () => {
      await start("v1");
    });
  });

  it("a disk fills up", async ({ skip }) => {
    if (!hasDisk) {
      console.warn("SKIPPED: a disk fills up, for no disk can be mounted here");
      skip();
    }
    prometheus.forget();
    resizeDisk(FULL_DISK_MB);
    // Its missed turns are reported later, as they are of a validator that was killed.
    await fires(["IbexDiskFull v2", "IbexDiskLow v2"], () => resizeDisk(DISK_MB), [missed("v2")]);
  });

  it("a clock is two seconds ahead", async () => {
    prometheus.forget();
    await memberOf("v3").node?.stop();
    await start("v3", shiftedClock(2_000));
    // Its proposals are refused, so each of its turns costs a round.
    await fires(["IbexClockWrong v3"], async () => {
      await memberOf("v3").node?.stop();
      await start("v3");
    }, ["IbexRoundsFail", "IbexNodeDown v3"]);
  });

  it("a validator is cut off", async () => {
    prometheus.forget();
    links.cut(["v4"], ["v1", "v2", "v3"]);
    await fires(["IbexNoPeers v4", "IbexNodeBehind v4"], () => links.heal(), [
      "IbexRoundsRise",
      missed("v4"),
    ]);
  });

  it("the network falls in two halves", async () => {
    prometheus.forget();
    links.cut(["v1", "v2"], ["v3", "v4"]);
    const lost = NAMES.map((name) => `IbexPeersLost ${name}`);
    await fires(["IbexChainStands", ...lost], () => links.heal(), ["IbexRoundsRise", ...NAMES.map(missed)]);
  });
});

function nodesOf({ members }: ValidatorNetwork): readonly NodeProcess[] {
  return members.flatMap(({ node }) => (node === undefined ? [] : [node]));
}
