import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./nodeProcess.ts";

/** Those of a package manager, which a test must not inherit from the npm that runs it, are left out. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

/**
 * Creates a project of these files, by path, in a temporary folder, with packages of the npm registry that are no dependencies
 * of ours, in these versions. Undefined where the registry cannot be reached, which it says.
 */
export async function npmProject(
  packages: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const folder = temporaryFolder();
  const manifest = { private: true, dependencies: packages };
  for (const [path, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  try {
    await promisify(execFile)(
      "npm",
      ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline", "--fetch-retries=1"],
      { cwd: folder, env: ENVIRONMENT },
    );
    return folder;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    if (
      !/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED|ENOENT/.test(
        stderr ?? String(error),
      )
    )
      throw error;
    console.warn(`SKIPPED: ${Object.keys(packages)[0]}, for the npm registry cannot be reached`);
    return undefined;
  }
}

/** Runs a program of a project's packages to its end; returns what it printed, and throws it when it failed. */
export async function runInProject(
  folder: string,
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(
      join(folder, "node_modules", ".bin", program),
      args,
      { cwd: folder, env: { ...ENVIRONMENT, NO_COLOR: "1", CI: "1", ...environment } },
    );
    return stdout + stderr;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  }
}
