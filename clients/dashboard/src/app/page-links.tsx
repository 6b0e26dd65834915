import { Link } from '@tanstack/react-router';
import { navigation } from './pages.js';

/** The links to all pages, in their groups. */
export function PageLinks({ onLeave }: { readonly onLeave?: () => void }) {
  return navigation.map(({ title, pages }) => (
    <div key={title} className="mb-1">
      <p className="px-2 py-1 text-xs font-medium text-muted">{title}</p>
      <ul>
        {pages.map(({ to, title: page, icon }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: to === '/app' }}
              onClick={onLeave}
              className="flex min-h-8 items-center gap-2.5 rounded-md px-2 text-soft hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-ink pointer-coarse:min-h-11"
            >
              {icon}
              {page}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  ));
}
