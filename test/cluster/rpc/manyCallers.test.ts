import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { saySkipped } from "../../delivery/installed.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import {
  exitWithin,
  freePort,
  pause,
  type RunningProgram,
  runProgram,
  until,
} from "../harness/nodeProcess.ts";
import {
  type FollowerPlace,
  hasHaproxy,
  hasNginx,
  type ProxyProcess,
  startHaproxy,
  startNginx,
} from "../harness/proxyProcess.ts";
import { type SteadyCallers, startCallers } from "../harness/steadyCallers.ts";
import { type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/**
 * Three followers behind a real proxy with the configuration that we ship, and callers over HTTP and WebSocket who go on
 * asking while one follower after the other is killed, stands still, and is stopped and started again. What they may rely
 * on is in docs/operating/proxies.md.
 */
const FROZEN_MS = 9_000;
const FILTERS = 3;
/** Longer than proxies need to notice, and for some blocks. */
const SETTLED_AFTER_MS = 6_000;
/** In which the callers of a proxy come home, each as long as they have to keep their filters then. */
const SETTLING_ATTEMPTS = 6;

interface Follower extends FollowerPlace {
  readonly member: Member;
  program: RunningProgram | undefined;
}

const PROXIES = [
  // A caller moves at once from a killed node, a second or more after its last answer from others.
  { name: "HAProxy", isThere: hasHaproxy, start: startHaproxy, mayBeOlder: 1 },
  // A caller moves at once, and goes home to a node that had a block of the last five seconds; periods are of one second.
  { name: "nginx", isThere: hasNginx, start: startNginx, mayBeOlder: 5 },
] as const;

const THERE = PROXIES.filter(({ isThere }) => isThere);

/** Callers of one proxy; those of all of them live through the same faults. */
interface Side {
  readonly name: string;
  readonly proxy: ProxyProcess;
  readonly callers: SteadyCallers;
  readonly mayBeOlder: number;
  /** Filters that were lost before the first fault. */
  settling: number;
}

for (const { name, isThere } of PROXIES)
  if (IS_THOROUGH && !isThere)
    saySkipped(`callers behind ${name}`, name.toLowerCase(), name === "nginx" ? "nginx-light" : "haproxy");

describe.skipIf(!IS_THOROUGH)("callers of three followers", () => {
  let network: ValidatorNetwork;
  let followers: Follower[];

  beforeAll(async () => {
    network = await prepareNetwork({ validators: 1, followers: 3 });
    const [validator, ...members] = network.members;
    if (validator === undefined) throw new Error("there is no validator");
    await network.start(validator);
    followers = await Promise.all(
      members.map(async (member) => ({
        member,
        httpPort: await freePort(),
        wsPort: await freePort(),
        program: undefined,
      })),
    );
    await Promise.all(followers.map(start));
  });

  afterAll(async () => {
    for (const { program } of followers ?? []) program?.child.kill("SIGKILL");
    await network?.stopAll();
  });

  async function start(follower: Follower): Promise<void> {
    const { member, httpPort, wsPort } = follower;
    follower.program = runProgram([
      `--data-path=${member.dataPath}`,
      `--genesis-file=${network.genesisFile}`,
      `--p2p-port=${member.peerPort}`,
      "--p2p-interface=127.0.0.1",
      "--discovery-enabled=false",
      "--rpc-http-enabled",
      `--rpc-http-port=${httpPort}`,
      "--rpc-ws-enabled",
      `--rpc-ws-port=${wsPort}`,
      "--min-gas-price=0",
    ]);
    await until(() => isReady(httpPort), "a follower that is ready");
  }

  it.skipIf(THERE.length === 0)(
    `behind ${THERE.map(({ name }) => name).join(" and ")} have no failed request, and no older head, whatever becomes of one follower`,
    async () => {
      const sides: Side[] = [];
      try {
        for (const [index, { name, start: startProxy, mayBeOlder }] of THERE.entries()) {
          const proxy = await startProxy(followers);
          const counts = { http: 9, filters: FILTERS, webSocket: 6 };
          const callers = startCallers(proxy, counts, accountFromSeed(index + 300));
          sides.push({ name, proxy, callers, mayBeOlder, settling: 0 });
        }
        await Promise.all(
          sides.map(async (side) => {
            side.settling = await untilFiltersStay(side.callers.found);
          }),
        );
        for (const [index, fault] of [kill, freeze, upgrade].entries()) {
          const follower = followers[index];
          if (follower === undefined) throw new Error("there are three followers");
          await fault(follower);
          await pause(SETTLED_AFTER_MS);
          for (const { name, callers } of sides)
            console.info(name, fault.name, JSON.stringify(callers.found));
        }
      } finally {
        for (const { callers, proxy } of sides) {
          await callers.stop();
          await proxy.stop();
        }
      }
      for (const { name, proxy, callers, mayBeOlder, settling } of sides) {
        const { found } = callers;
        expect(found.failures, `${name}: ${proxy.output()}`).toEqual([]);
        expect(Math.max(0, ...found.older), name).toBeLessThanOrEqual(mayBeOlder);
        // A caller loses its filter when it moves and when it goes home. One that moved freely would lose two of three.
        expect((found.filtersLost - settling) * 10, name).toBeLessThan(found.filtersKept);
        expect(found.mined, name).toBeGreaterThan(20);
        expect(found.reconnections, name).toBeGreaterThan(0);
      }
    },
  );

  /**
   * Callers keep their filters while nothing is wrong. On a busy machine a proxy may take a follower that has just started
   * for lost until it answers in time. Resolves to the number of filters that were lost before.
   */
  async function untilFiltersStay(found: SteadyCallers["found"]): Promise<number> {
    for (let attempt = 0; attempt < SETTLING_ATTEMPTS; attempt++) {
      const before = found.filtersLost;
      await pause(SETTLED_AFTER_MS);
      if (found.filtersLost === before) return before;
    }
    throw new Error(`filters are lost while nothing is wrong: ${JSON.stringify(found)}`);
  }

  async function kill(follower: Follower): Promise<void> {
    follower.program?.child.kill("SIGKILL");
    await follower.program?.exit;
    await pause(SETTLED_AFTER_MS);
    await start(follower);
  }

  async function freeze({ program }: Follower): Promise<void> {
    program?.child.kill("SIGSTOP");
    await pause(FROZEN_MS);
    program?.child.kill("SIGCONT");
  }

  async function upgrade(follower: Follower): Promise<void> {
    if (follower.program === undefined) return;
    follower.program.child.kill("SIGTERM");
    expect(await exitWithin(follower.program, 30_000)).toBe(0);
    await start(follower);
  }
});

async function isReady(port: number): Promise<true | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}/readiness?maxHeadAgeSeconds=5`).catch(() => undefined);
  await answer?.text();
  return answer?.status === 200 ? true : undefined;
}
