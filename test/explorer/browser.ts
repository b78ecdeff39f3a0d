import { existsSync } from "node:fs";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import {
  freePort,
  type NodeOptions,
  type NodeProcess,
  startNodeProcess,
} from "../cluster/harness/nodeProcess.ts";
import { HANG_MS } from "../hang.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);

if (CHROMIUM === undefined)
  console.warn("SKIPPED: tests of the explorer's pages, for there is no Chromium (apt-get install chromium)");

/** Whether tests in a headless Chromium can run. */
export const CAN_BROWSE = CHROMIUM !== undefined;

let opened: Promise<Browser> | undefined;

/** Belongs into `afterAll` of each file that opens pages. */
export async function closeBrowser(): Promise<void> {
  const browser = await opened;
  opened = undefined;
  await browser?.close();
}

/** Opens with the first page of a file. */
function theBrowser(): Promise<Browser> {
  // Its sandbox takes rights that a container does not give.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  opened ??= chromium.launch({ ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }), args });
  return opened;
}

/** A page, and what it complained of: errors of its scripts, refusals by its policy, and requests to anybody else. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: string[];
}

/** Opens a page that is closed when the test has finished. */
export async function openPage(options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const page = await (await theBrowser()).newPage(options);
  page.setDefaultTimeout(HANG_MS);
  onTestFinished(() => page.close());
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!/^https?:\/\/127\.0\.0\.1:/.test(request.url())) complaints.push(`asks ${request.url()}`);
  });
  return { page, complaints };
}

export interface ExplorerNode extends NodeProcess {
  readonly explorerUrl: string;
}

/** A node of the development network with its explorer. */
export async function startExplorerNode(
  settings: NodeOptions & { readonly explorerPort?: number } = {},
): Promise<ExplorerNode> {
  const port = settings.explorerPort ?? (await freePort());
  const options = ["--explorer-enabled=true", `--explorer-port=${port}`, ...(settings.options ?? [])];
  const node = await startNodeProcess({ ...settings, options });
  return { ...node, explorerUrl: `http://127.0.0.1:${port}` };
}

/** The value of a figure on the page, by its name. */
export function figure(page: Page, name: string): Promise<string | null> {
  return page
    .locator(".figure")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator(".figure-value")
    .textContent();
}

/**
 * What axe-core finds critical or serious on the page, whose colours have no contrast halfway between two looks; by all its rules, or
 * by those that are named.
 */
export async function seriousBarriers(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // Reading it takes as long as a look at the page.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  await page.evaluate(NOTHING_MOVES);
  const options = {
    resultTypes: ["violations" as const],
    ...(rules !== undefined && { runOnly: [...rules] }),
  };
  const results = await page.evaluate(
    (chosen) => (globalThis as unknown as { axe: typeof axe }).axe.run(chosen),
    options,
  );
  return results.violations
    .filter(({ impact }) => impact === "critical" || impact === "serious")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/**
 * Waits for the end of what moves on a page. What has ended may still be in effect; what is hidden in a closed part of the page stands
 * still, and never ends.
 */
const NOTHING_MOVES = `(async () => {
  const moving = () =>
    document.getAnimations().filter(({ playState, effect }) => playState === "running" && effect.target.checkVisibility());
  while (moving().length > 0) await Promise.allSettled(moving().map(({ finished }) => finished));
})()`;
