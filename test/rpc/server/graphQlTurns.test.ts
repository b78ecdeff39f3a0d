import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { answerGraphQl } from "../../../src/rpc/graphql/answerGraphQl.ts";
import { CallerPacer, CallerTime } from "../../../src/rpc/server/callerTime.ts";
import { aChainSpec, anRpcBackend } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { aGraphQlServer, ask } from "./servers.ts";

const HEAVY_HOST = "127.0.0.2";
const SMALL_HOST = "127.0.0.3";
const HEAVY_QUERIES = 20;
const BLOCKS = 20;

it(
  "a host's small query has its turns before those of another host's many heavy ones",
  async () => {
    const chain = chainOf(Array.from({ length: BLOCKS }, (_, number) => aStoredBlock({ number })));
    const backend = anRpcBackend({ chain, spec: aChainSpec(chain, { chainId: 1337n, fork: "london" }) });
    const callerTime = new CallerTime();
    const pauses = { [HEAVY_HOST]: 0, [SMALL_HOST]: 0 };
    let heavyPausesMeanwhile = 0;
    // Each look at the time is one at which the slice is over, as it would be in queries of many seconds.
    const server = await aGraphQlServer(
      async (request, caller, signal) => {
        const { remoteHost, client } = caller;
        const pacer = new CallerPacer(callerTime, remoteHost);
        const before = pauses[HEAVY_HOST];
        const answer = await answerGraphQl(
          request,
          {
            backend,
            logger: silentLogger,
            remoteHost,
            client,
            isAbandoned: () => caller.isAbandoned(),
            pacer: {
              isDue: () => true,
              restart: () => pacer.restart(),
              yield() {
                pauses[remoteHost as keyof typeof pauses]++;
                return pacer.yield();
              },
            },
          },
          signal,
        );
        if (remoteHost === SMALL_HOST) heavyPausesMeanwhile = pauses[HEAVY_HOST] - before;
        return answer;
      },
      {},
      { callerTime },
    );
    const post = (query: string, localAddress: string) =>
      ask(server, { path: "/graphql", body: query, localAddress });
    const fields = Array.from({ length: 40 }, (_, index) => `b${index}:hash`).join(" ");
    const heavy = Array.from({ length: HEAVY_QUERIES }, () =>
      post(`{blocks(from:0){${fields}}}`, HEAVY_HOST),
    );
    while (pauses[HEAVY_HOST] < 10 * HEAVY_QUERIES) await turn();
    const small = await post("{blocks(from:0){number}}", SMALL_HOST);
    expect(small.status).toBe(200);
    expect(pauses[SMALL_HOST]).toBeGreaterThanOrEqual(BLOCKS);
    // In turns without hosts there would be one of each heavy query beside each of the small one.
    expect(heavyPausesMeanwhile).toBeLessThan(pauses[SMALL_HOST]);
    await Promise.all(heavy);
  },
  TEST_HANG_MS,
);
