import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { root } from "../../docs/documents.ts";
import { hasPrometheus, startPrometheus } from "../../prometheus/prometheusProcess.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { reach } from "../harness/chainReading.ts";
import { freePort, type NodeProcess, until } from "../harness/nodeProcess.ts";
import { CHAIN_ID, prepareNetwork } from "../harness/validatorNetwork.ts";

const board = JSON.parse(readFileSync(join(root, "config", "grafana", "ibex.json"), "utf8")) as {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
};
const expressions = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
/** They show what goes wrong, and nothing in a network that is well, where no turn was missed. */
const isOfTrouble = (expression: string): boolean =>
  / > 0$/.test(expression) || expression.includes("bft_expected_proposer_missed_total");

if (IS_THOROUGH && !hasPrometheus)
  console.warn("SKIPPED: test/cluster/operators/board, for Prometheus (Debian: prometheus) is not there");

describe.skipIf(!IS_THOROUGH || !hasPrometheus)("the board, before a real Prometheus", () => {
  it("has data in every panel of a network that is used", async () => {
    const network = await prepareNetwork({ validators: 2, followers: 1 });
    onTestFinished(() => network.stopAll());
    const ports: Record<string, number> = {};
    for (const [index, member] of network.members.entries()) {
      const port = await freePort();
      ports[`node${index + 1}`] = port;
      await network.start(member, [], ["--metrics-enabled", `--metrics-port=${port}`, "--rpc-ws-enabled"]);
    }
    const nodes = network.members.flatMap(({ node }) => (node === undefined ? [] : [node]));
    const prometheus = await startPrometheus({ ports, speed: 1 });
    onTestFinished(() => prometheus.stop());
    await reach(nodes, 2);
    const [first, second] = nodes as [NodeProcess, NodeProcess];
    const socket = new WebSocket(first.wsUrl);
    onTestFinished(() => socket.terminate());
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');

    /** What stays away, after a little more of use. */
    let nonce = 0n;
    const empty = async (): Promise<readonly string[]> => {
      const { raw } = aTransaction({ nonce: nonce++, chainId: CHAIN_ID });
      await second.rpc("eth_sendRawTransaction", [toHex(raw)]);
      await first.rpc("eth_nonsense", []).catch(() => undefined);
      const counts = await Promise.all(
        expressions.map(async (expression) => {
          const here = expression
            .replaceAll("$__rate_interval", "10s")
            .replaceAll("$instance", ".*")
            .replaceAll("$job", "ibex");
          return { expression, count: await prometheus.count(here) };
        }),
      );
      return counts
        .filter(({ expression, count }) => count === 0 && !isOfTrouble(expression))
        .map(({ expression }) => expression);
    };
    let missing: readonly string[] = expressions;
    await until(async () => {
      missing = await empty();
      return missing.length === 0 ? true : undefined;
    }, "data in all panels").catch(() => undefined);
    expect(missing).toEqual([]);
  });
});
