#ifndef SONDE_EXAMPLES_ZONES_WINDOW_TREE_H
#define SONDE_EXAMPLES_ZONES_WINDOW_TREE_H

/*
 * Bodies that attract each other, and a quadtree of them: what is far away attracts as one body
 * (Barnes and Hut, 1986).
 */

struct body {
	float x, y, vx, vy, ax, ay, mass;
};

struct cell {
	float x, y, half;	    /* its square */
	float mass, mass_x, mass_y; /* all its bodies, as one */
	int first, count;	    /* of the bodies */
	int children;		    /* the first of four; 0: none */
};

struct tree {
	struct body *bodies; /* not the tree's; put into the cells' order */
	int body_count;
	int cell_count, cell_room;
	struct cell *cells;
};

/* Makes the tree anew. */
void tree_build(struct tree *tree, struct body *bodies, int count);
/*
 * Adds up what attracts the bodies of all cells of that depth whose number is odd, or even: half of
 * the work, for one of two threads.
 */
void tree_attract(const struct tree *tree, int odd, float openness);
/* The energy of all, exactly: slow. */
double tree_energy(const struct tree *tree);
void tree_deinit(struct tree *tree);

#endif
