import { describe, expect, it } from "vitest";
import { createTerminalLines } from "../../src/observability/terminalLine.ts";

const TIME = new Date(2026, 10, 26, 14, 3, 20);
const LINE = { timestamp: TIME.toISOString(), thread: "main", class: "chain", level: "INFO" };
const HASH = `0x${"ab".repeat(32)}`;

function textOf(line: object, columns?: number, isColored = false): string {
  return createTerminalLines({ isColored, columns: () => columns })({ ...LINE, ...line });
}

describe("lines on a terminal", () => {
  it("have the time of day, the sentence and its facts, hashes by their ends", () => {
    expect(textOf({ message: "Produced #20", transactions: 3, hash: HASH, gone: undefined }, 120)).toBe(
      "14:03:20 Produced #20 transactions=3 hash=0xabab…abab\n",
    );
  });

  it.each([120, 60, 40, 33])(
    "fit into a window of %d columns, and say that facts are left out",
    (columns) => {
      const text = textOf(
        { message: "Produced #20", transactions: 3, pending: 12_345, gasUsed: 63_000, hash: HASH },
        columns,
      );
      expect(text.split("\n")).toEqual([expect.any(String), ""]);
      expect(text.length - 1).toBeLessThanOrEqual(columns);
      expect(text.startsWith("14:03:20 Produced #20")).toBe(true);
      expect(text.includes("…\n")).toBe(columns < 90);
    },
  );

  it("have hashes last, and not the number that the sentence names", () => {
    const text = textOf({ message: "Produced #20", number: 20, hash: HASH, transactions: 20 }, 120);
    expect(text).toBe("14:03:20 Produced #20 transactions=20 hash=0xabab…abab\n");
  });

  it("have each of several hashes by its ends", () => {
    const text = textOf({ message: "found", hashes: [HASH, HASH], transactions: 2 }, 120);
    expect(text).toBe('14:03:20 found transactions=2 hashes=["0xabab…abab","0xabab…abab"]\n');
  });

  it("have the whole sentence, also where it takes two lines, or the window's size is not known", () => {
    const message = "the configuration was reread, and the node goes on with it";
    expect(textOf({ message, changed: "logging" }, 40)).toBe(
      ["14:03:20 the configuration was reread,", "         and the node goes on with it …", ""].join("\n"),
    );
    expect(textOf({ message, changed: "logging" }, 0)).toBe(`14:03:20 ${message} …\n`);
  });

  it("follow the window when its size changes", () => {
    let columns: number | undefined = 200;
    const lines = createTerminalLines({ isColored: false, columns: () => columns });
    const line = {
      ...LINE,
      message: "Produced #20",
      transactions: 3,
      pending: 12_345,
      gasUsed: 63_000,
      gasPercent: 0.5,
    };
    const wide = lines(line);
    columns = 50;
    expect(lines(line).length).toBeLessThanOrEqual(51);
    columns = undefined;
    expect(lines(line)).toBe(wide);
  });

  it("lose nothing of a warning or an error, whose level and class they name", () => {
    const text = textOf(
      {
        level: "WARN",
        message: "the clock differs from those of most validators",
        skewMs: 86_400_000,
        of: HASH,
      },
      50,
    );
    expect(text).toBe(
      [
        "14:03:20 WARN chain: the clock differs from those",
        "         of most validators skewMs=86400000",
        `         of=${HASH}`,
        "",
      ].join("\n"),
    );
    expect(textOf({ level: "ERROR", message: "cannot write", throwable: "Error: full\n    at x" }, 80)).toBe(
      "14:03:20 ERROR chain: cannot write\nError: full\n    at x\n",
    );
  });

  it("cannot be steered by what an outsider sends", () => {
    const hostile = `peer${String.fromCharCode(27)}[2J\u202ename`;
    const text = textOf({ message: "connected", name: hostile }, 120);
    expect(text).toBe("14:03:20 connected name=peer\\u001b[2J\\u202ename\n");
  });

  it("are coloured by level, and within the width without their colours", () => {
    const line = { level: "WARN", message: "late", round: 2 };
    const escapeCode = String.fromCharCode(27);
    const colored = textOf(line, 40, true);
    expect(colored).toContain(`${escapeCode}[33mWARN`);
    const plain = colored
      .split(escapeCode)
      .map((text, index) => (index === 0 ? text : text.replace(/^\[\d+m/, "")));
    expect(plain.join("")).toBe(textOf(line, 40));
  });
});
