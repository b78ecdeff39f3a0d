import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { root } from "../docs/documents.ts";

interface Screen {
  screenLines(shown: object, size: { columns: number; rows: number }): readonly string[];
  readCommand(line: string): object;
  reasonOf(log: string): string;
}

// A script without types.
const file = pathToFileURL(join(root, "scripts", "localnet", "screen.mjs")).href;
const { screenLines, readCommand, reasonOf } = (await import(file)) as Screen;

function shownWith(count: number) {
  const nodes = Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    url: `http://127.0.0.1:${28545 + index}`,
    role: "validator",
    height: 123_456,
    hash: "0x0123456789abcdef",
    peers: 24,
    round: 0,
    state: "ended with exit code 2: the port 28545 is in use, another node may run there",
  }));
  const summary =
    "deciding block 123457, round 0, proposer node 3, 12.0 transactions per second, missing node 2";
  return { folder: "/home/someone/networks/ibex-localnet", summary, nodes, answer: "", typed: "stop 2" };
}

describe("the screen of npm run localnet", () => {
  it.each([
    [40, 10],
    [60, 15],
    [80, 24],
    [100, 30],
    [200, 60],
  ])("fits a terminal of %i columns and %i rows, with any number of nodes", (columns, rows) => {
    for (const count of [1, 5, 7, 20, 100]) {
      const lines = screenLines(shownWith(count), { columns, rows });
      expect(lines.length).toBeLessThanOrEqual(rows);
      expect(lines.filter((line) => line.length > columns)).toEqual([]);
      expect(lines.at(-1)).toBe("> stop 2");
      expect(lines.join("\n")).toContain("ended with ex");
    }
  });

  it("shows all nodes of the usual network on a small terminal, and counts those that do not fit", () => {
    const usual = screenLines(shownWith(5), { columns: 40, rows: 10 });
    expect(usual.filter((line) => /^\d /.test(line))).toHaveLength(5);
    const many = screenLines(shownWith(20), { columns: 40, rows: 10 });
    const visible = many.filter((line) => /^\d /.test(line)).length;
    expect(many).toContain(`… and ${20 - visible} more`);
  });

  it("shows where a node answers, and its head, where there is room", () => {
    const text = screenLines(shownWith(5), { columns: 120, rows: 30 }).join("\n");
    expect(text).toContain("http://127.0.0.1:28547");
    expect(text).toContain("0x01234567");
    expect(text).toContain("/home/someone/networks/ibex-localnet");
  });
});

describe("a line typed to npm run localnet", () => {
  it.each([
    ["", { kind: "nothing" }],
    ["3", { kind: "toggle", number: 3 }],
    ["stop 12", { kind: "stop", number: 12 }],
    [" START 1 ", { kind: "start", number: 1 }],
    ["keys", { kind: "keys" }],
    ["quit", { kind: "quit" }],
    ["stop", { kind: "unknown", line: "stop" }],
    ["stop all", { kind: "unknown", line: "stop all" }],
    ["quit 3", { kind: "unknown", line: "quit 3" }],
  ])("%j is understood", (line, command) => {
    expect(readCommand(line)).toEqual(command);
  });
});

describe("the reason of an end", () => {
  it("is the last error of the log, else its last line, in any format", () => {
    const log = (level: string, message: string) => JSON.stringify({ level, message });
    const [error, info] = [log("ERROR", "the node cannot start: the port is in use"), log("INFO", "stopped")];
    expect(reasonOf(`${info}\n${error}\n${info}\n`)).toBe("the node cannot start: the port is in use");
    expect(reasonOf(`${info}\n`)).toBe("stopped");
    expect(reasonOf(`${info}\nSegmentation fault\n`)).toBe("Segmentation fault");
    expect(reasonOf("")).toBe("");
  });
});
