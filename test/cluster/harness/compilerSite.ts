import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server } from "node:net";
import { aCertificateFor, aSiteCertificate } from "../../builders/tlsFiles.ts";

const SITE = "binaries.soliditylang.org";

/** A proxy behind which there is a site with a list of compilers, in place of the one that forge asks. */
export interface CompilerSite {
  /** Variables by which forge reaches it. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Opens a site whose list names these files of compilers, since tests reach no site. */
export async function openCompilerSite(files: readonly string[]): Promise<CompilerSite> {
  const authority = aCertificateFor("authority");
  const { key, certificate } = aSiteCertificate(SITE, authority);
  const site = createTlsServer({ key, cert: certificate }, (request, response) =>
    response.writeHead(request.url === "/bin/list.txt" ? 200 : 404).end(files.join("\n")),
  );
  const sitePort = await listen(site);
  const proxy = createServer().on("connect", (_request, socket) => {
    const target = connect(sitePort, "127.0.0.1");
    for (const [one, other] of [
      [socket, target],
      [target, socket],
    ] as const)
      one.on("error", () => other.destroy());
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    socket.pipe(target).pipe(socket);
  });
  const proxyPort = await listen(proxy);
  return {
    environment: {
      HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
      SSL_CERT_FILE: authority.certificateFile,
    },
    async close() {
      for (const server of [proxy, site]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
