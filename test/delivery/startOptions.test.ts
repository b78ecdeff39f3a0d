import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../docs/documents.ts";

describe("the ways to start a node", () => {
  const settings = [
    "MALLOC_MMAP_THRESHOLD_=65536",
    "MALLOC_TRIM_THRESHOLD_=1048576",
    "--max-semi-space-size=64",
  ];
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: { start: string };
  };
  const [firstLine = ""] = readFileSync(join(root, "src/main.ts"), "utf8").split("\n");

  it.each([
    { way: "npm start", text: [...environmentOf({}), scripts.start].join(" ") },
    { way: "the command ibex", text: firstLine },
    {
      way: "the image",
      text: readFileSync(join(root, "Dockerfile"), "utf8").replaceAll('", "', " "),
    },
  ])("$way has the settings for memory", ({ text }) => {
    for (const setting of settings) expect(text).toContain(setting);
  });

  it("npm start leaves the allocator as an operator has set it", () => {
    const own = "MALLOC_MMAP_THRESHOLD_=131072";
    const environment = environmentOf({ MALLOC_MMAP_THRESHOLD_: "131072" });
    expect(environment).toEqual(expect.arrayContaining([own, "MALLOC_TRIM_THRESHOLD_=1048576"]));
  });

  /** The environment that npm start gives the node, where its caller has set this much of it. */
  function environmentOf(set: NodeJS.ProcessEnv): string[] {
    const script = scripts.start.replace(/exec node .*/, "exec env");
    const { PATH } = process.env;
    return execFileSync("sh", ["-c", script], { env: { PATH, ...set }, encoding: "utf8" }).split("\n");
  }

  it("the command's first line is short enough for any Linux", () => {
    expect(firstLine.length).toBeLessThanOrEqual(127);
  });
});
