import { useEffect, useState } from "preact/hooks";

/**
 * Pages by path, in the form in which wallets link to an explorer (EIP-3091: /block, /tx, /address, /token). The server
 * returns the page under every path.
 */
export interface Route {
  /** Decoded parts of the path. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

/** Properties of a page: the parts of the path after its name, and the query. */
export interface ViewProps {
  readonly route: Route;
}

function currentRoute(): Route {
  const parts = location.pathname.split("/").filter((part) => part !== "");
  return { parts: parts.map(decoded), query: new URLSearchParams(location.search) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const listeners = new Set<() => void>();

export function navigate(path: string): void {
  history.pushState(null, "", path);
  scrollTo(0, 0);
  notify();
}

/** Like `navigate`, but replaces the current page in the history. */
export function replace(path: string): void {
  history.replaceState(null, "", path);
  notify();
}

function notify(): void {
  for (const listener of listeners) listener();
}

addEventListener("popstate", notify);

/** Follows links to this origin without a reload; new tabs and downloads are left to the browser. */
addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  if (link === null || !isPlain || event.defaultPrevented) return;
  if (link.origin !== location.origin || link.target !== "" || link.hasAttribute("download")) return;
  if (link.pathname === location.pathname && link.search === location.search && link.hash !== "") return;
  event.preventDefault();
  navigate(link.pathname + link.search);
});

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const listener = (): void => setRoute(currentRoute());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return route;
}
