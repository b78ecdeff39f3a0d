import { describe, expect, it } from "vitest";
import { parseEnode } from "../../src/config/enode.ts";
import { ListedNodes } from "../../src/permissioning/listedNodes.ts";
import { aRegistry, readSample } from "../observability/aRegistry.ts";

const ID = "12".repeat(64);
const NODE = { nodeId: new Uint8Array(64).fill(0x12), host: "10.0.0.1", tcpPort: 30303 };

function listed(...items: readonly string[]) {
  const list = { items };
  let parsed = 0;
  const metrics = aRegistry();
  const nodes = new ListedNodes(
    list,
    (item) => {
      parsed++;
      const node = parseEnode(item);
      return node.ok ? node.value : undefined;
    },
    metrics,
  );
  const counted = (answer: string) =>
    readSample(metrics, `besu_permissioning_node_local_check_count${answer}_total`);
  return { list, nodes, parsed: () => parsed, counted };
}

describe("the list of nodes", () => {
  it("has a node by id, address and listening port, whatever its discovery port", () => {
    const { nodes } = listed(`enode://${ID}@10.0.0.1:30303?discport=7`);
    expect(nodes.has(NODE)).toBe(true);
    expect(nodes.has({ ...NODE, tcpPort: 30304 })).toBe(false);
    expect(nodes.has({ ...NODE, host: "10.0.0.2" })).toBe(false);
    expect(nodes.has({ ...NODE, nodeId: new Uint8Array(64) })).toBe(false);
  });

  it("is parsed again only when it has changed", () => {
    const { list, nodes, parsed } = listed(`enode://${ID}@10.0.0.1:30303`);
    for (let times = 0; times < 3; times++) nodes.has(NODE);
    expect(parsed()).toBe(1);
    list.items = [];
    expect(nodes.has(NODE)).toBe(false);
  });

  it("parses only what was added to it", () => {
    const items = Array.from(
      { length: 1000 },
      (_, index) => `enode://${ID}@10.0.${index >> 8}.${index & 255}:30303`,
    );
    const { list, nodes, parsed } = listed(...items);
    expect(nodes.has({ ...NODE, host: "10.0.3.231" })).toBe(true);
    list.items = [...items.slice(1), `enode://${ID}@10.1.0.1:30303`];
    expect(nodes.has({ ...NODE, host: "10.1.0.1" })).toBe(true);
    expect(nodes.has({ ...NODE, host: "10.0.0.0" })).toBe(false);
    expect(parsed()).toBe(1001);
  });

  it("counts questions and answers", async () => {
    const { nodes, counted } = listed(`enode://${ID}@10.0.0.1:30303`);
    nodes.has(NODE);
    nodes.has({ ...NODE, host: "10.0.0.2" });
    nodes.has({ ...NODE, host: "10.0.0.3" });
    expect([await counted(""), await counted("_permitted"), await counted("_unpermitted")]).toEqual([
      3, 1, 2,
    ]);
  });
});
