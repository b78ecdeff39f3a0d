import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { PAGE_FILES, type PageFile } from "./pageFiles.ts";

/**
 * The built-in files of the page. `index.html` is returned under every path that is not a file, so that a link to a block or
 * an account opens it. Files below /assets have a hash of their content in their names, and stay in a browser's cache.
 */
export interface Pages {
  /** Answers GET and HEAD. */
  answer(request: IncomingMessage, response: ServerResponse): void;
}

/**
 * Content security policy: scripts, styles and connections only of this origin, and no inline script or style, so that text
 * from the chain that gets into the page as markup, by a mistake of ours, does nothing. No other page may frame this one.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const COMMON_HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

const ASSETS = "/assets/";
const INDEX = "/index.html";

interface ReadyFile {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly tag: string;
}

/** Compresses the files, once. */
export async function openPages(files: readonly PageFile[] = PAGE_FILES): Promise<Pages> {
  const ready = new Map(
    await Promise.all(files.map(async (file) => [file.path, await prepare(file)] as const)),
  );
  return {
    answer(request, response) {
      const path = pathOf(request);
      const file = ready.get(path) ?? (path.startsWith(ASSETS) ? undefined : ready.get(INDEX));
      if (file === undefined) respondMissing(response);
      else respondFile(file, request, response);
    },
  };
}

async function prepare({ path, type, text, tag }: PageFile): Promise<ReadyFile> {
  const plain = Buffer.from(text);
  return {
    plain,
    gzipped: await promisify(gzip)(plain, { level: 9 }),
    tag: `"${tag}"`,
    headers: {
      ...COMMON_HEADERS,
      "Content-Type": type,
      "Cache-Control": path.startsWith(ASSETS) ? "public, max-age=31536000, immutable" : "no-cache",
      Vary: "accept-encoding",
    },
  };
}

function respondFile(
  { plain, gzipped, headers, tag }: ReadyFile,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (request.headers["if-none-match"] === tag) {
    response.writeHead(304, { ...headers, ETag: tag });
    response.end();
    return;
  }
  const isGzipped = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  const body = isGzipped ? gzipped : plain;
  response.writeHead(200, {
    ...headers,
    ...(isGzipped && { "Content-Encoding": "gzip" }),
    ETag: tag,
    "Content-Length": body.length,
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

function respondMissing(response: ServerResponse): void {
  response.writeHead(404, { ...COMMON_HEADERS, "Content-Type": "text/plain; charset=utf-8" });
  response.end("There is no such file.\n");
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? url;
}
