import { lazy, type ComponentType, type LazyExoticComponent } from 'react';

const KEY = 'loaded-anew-for';

/**
 * A part of a page that is loaded when it is first shown. One that is gone after a deployment has the document loaded
 * anew, once for each build; a second time it fails.
 * @param load imports its module
 * @param name of the component in there
 */
export function lazyPart<Name extends string, Props>(
  load: () => Promise<Readonly<Record<Name, ComponentType<Props>>>>,
  name: Name,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    try {
      return { default: (await load())[name] };
    } catch (error) {
      if (!claimReload()) throw error;
      location.reload();
      return new Promise<never>(() => undefined);
    }
  });
}

/** The address of this module names the build. Without storage nothing would end the loading. */
function claimReload(): boolean {
  try {
    if (sessionStorage.getItem(KEY) === import.meta.url) return false;
    sessionStorage.setItem(KEY, import.meta.url);
    return true;
  } catch {
    return false;
  }
}
