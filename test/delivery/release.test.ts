import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../docs/documents.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Workflow {
  readonly on: { readonly push: { readonly tags: readonly string[] } };
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string;
        readonly permissions: Readonly<Record<string, string>>;
        readonly steps: readonly Step[];
      }
    >
  >;
}

const workflow = parse(readFileSync(join(root, ".github", "workflows", "release.yml"), "utf8")) as Workflow;
const jobs = Object.entries(workflow.jobs);

describe("the release workflow", () => {
  it("publishes only what a tag names and the whole of .ci/run passes", () => {
    expect(workflow.on).toEqual({ push: { tags: ["v*"] } });
    expect(workflow.jobs["test"]?.steps.some(({ run }) => run === ".ci/run")).toBe(true);
    expect(jobs.filter(([name, { needs }]) => name !== "test" && needs !== "test")).toEqual([]);
  });

  it("gives each job only the rights it needs, and its code none of the checkout's", () => {
    expect(workflow.permissions).toEqual({});
    expect(workflow.jobs["test"]?.permissions).toEqual({ contents: "read" });
    const checkouts = jobs
      .flatMap(([, { steps }]) => steps)
      .filter(({ uses }) => uses?.startsWith("actions/checkout"));
    expect(checkouts).toHaveLength(jobs.length);
    for (const checkout of checkouts) expect(checkout.with).toEqual({ "persist-credentials": false });
  });

  it("records where package and image come from", () => {
    for (const name of ["package", "image"]) {
      const job = workflow.jobs[name];
      expect(job?.permissions).toMatchObject({ "id-token": "write", attestations: "write" });
      expect(
        job?.steps.some(({ uses }) => uses?.startsWith("actions/attest-build-provenance")),
        name,
      ).toBe(true);
    }
    const published = workflow.jobs["package"]?.steps.map(({ run }) => run ?? "").join("\n");
    expect(published).toContain("npm publish --provenance");
    const build = workflow.jobs["image"]?.steps.find(({ uses }) => uses?.startsWith("docker/build-push"));
    expect(build?.with).toMatchObject({ sbom: true, provenance: "mode=max" });
  });
});
